"""One gradient per worker, all at once where the batches and the model allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, overload

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn.modules.batchnorm import _NormBase


Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
Batches: TypeAlias = Iterable[tuple[Tensor, Tensor]]


@overload
def per_worker_gradients(model: nn.Module, loss: Loss, batches: Batches, *, with_losses: Literal[False] = False) -> Tensor: ...
@overload
def per_worker_gradients(model: nn.Module, loss: Loss, batches: Batches, *, with_losses: Literal[True]) -> tuple[Tensor, Tensor]: ...
@overload
def per_worker_gradients(model: nn.Module, loss: Loss, batches: Batches, *, with_losses: bool) -> Tensor | tuple[Tensor, Tensor]: ...
def per_worker_gradients(model: nn.Module, loss: Loss, batches: Batches, *, with_losses: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """One gradient per batch at the model's parameters, as rows; `with_losses` also one loss per batch.

    Batches of one size are computed at once where `torch.func.vmap` can do that with the model, others one after the other. The rows are
    in the order of ``model.parameters()``, those without gradient left out.
    """
    pairs = _pairs(batches)
    _check_statistics(model)
    trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    if not trained:
        raise ValueError("no parameter of the model requires a gradient")
    fixed = {name: value for name, value in [*model.named_parameters(), *model.named_buffers()] if name not in trained}

    def of_batch(parameters: dict[str, Tensor], inputs: Tensor, targets: Tensor) -> Tensor:
        return loss(functional_call(model, {**parameters, **fixed}, (inputs,)), targets)

    detached = {name: parameter.detach() for name, parameter in trained.items()}
    one = grad_and_value(of_batch)
    rows, losses = _at_once(one, detached, pairs) or _one_by_one(one, detached, pairs)
    return (rows, losses) if with_losses else rows


def _at_once(one: Callable[..., Any], parameters: dict[str, Tensor], batches: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor] | None:
    """Rows and losses; none where the batches differ in size, or the model does what `vmap` cannot: `nn.GRU`, ``.item()``."""
    if len({(inputs.shape, targets.shape) for inputs, targets in batches}) > 1:
        return None
    try:
        inputs, targets = (torch.stack(part) for part in zip(*batches, strict=True))
        gradients, losses = vmap(one, in_dims=(None, 0, 0), randomness="different")(parameters, inputs, targets)
    except RuntimeError:
        # If it is no limit of vmap, it is raised again without it.
        return None
    return torch.cat([gradients[name].flatten(1) for name in parameters], dim=1), losses


def _one_by_one(one: Callable[..., Any], parameters: dict[str, Tensor], batches: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    gradients, losses = zip(*(one(parameters, *batch) for batch in batches), strict=True)
    rows = [torch.cat([gradient[name].reshape(-1) for name in parameters]) for gradient in gradients]
    return torch.stack(rows), torch.stack(losses)


def _pairs(batches: Batches) -> list[tuple[Tensor, Tensor]]:
    pairs = [tuple(batch) for batch in batches]
    if not pairs:
        raise ValueError("batches: expected one per worker, got none")
    for worker, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"batch {worker}: expected a pair of inputs and targets, got {len(pair)} parts")
    return pairs


def _check_statistics(model: nn.Module) -> None:
    """Refuses running statistics: every worker's batch would go into them, a liar's too, past the defence."""
    for name, module in model.named_modules():
        if isinstance(module, _NormBase) and module.training and module.track_running_stats and module.running_mean is not None:
            raise ValueError(
                f"{type(module).__name__} {name!r} would mix the batches of all workers into its running statistics: make it with "
                "track_running_stats=False (torch.func.replace_all_batch_norm_modules_ does so for a whole model), "
                "put it in eval mode to keep its statistics, or use GroupNorm"
            )
