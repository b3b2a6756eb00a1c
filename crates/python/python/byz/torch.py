"""Byz-NSGDM for PyTorch: worker momentum, a robust aggregate, a step of fixed length.

>>> import torch, byz.torch                                                                      # doctest: +SKIP
>>> optimizer = byz.torch.ByzNSGDM(model.parameters(), workers=20, tolerance=3, lr=0.1)          # doctest: +SKIP
>>> gradients = byz.torch.per_worker_gradients(model, loss, batches)                             # doctest: +SKIP
>>> optimizer.step(gradients)                                                                    # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.optim import Optimizer

from .algorithms import Expression
from .defense import Aggregate, Defense

__all__ = ["ByzNSGDM", "per_worker_gradients"]

NORMS = ("l2", "linf", "spectral")
SCHEDULES: dict[str, Callable[[int], float]] = {
    "constant": lambda round: 1.0,
    "inverse_sqrt": lambda round: round**-0.5,
}


class ByzNSGDM(Optimizer):
    """Normalised SGD with momentum that up to `tolerance` of the `workers` may lie to.

    Each step takes one gradient per worker. The server keeps every worker's momentum (1−β)·Σ βⁱ·gradient, aggregates the momenta with
    `rule`, and moves each parameter group by `lr` times the schedule's factor in the direction that is steepest in its
    norm: ``l2`` (the aggregate over its length), ``linf`` (its signs) or ``spectral`` (each matrix made orthogonal, as Muon
    does; vectors over their length). `lr`, `norm` and `spectral_steps` may differ between parameter groups; the aggregate is of all
    groups at once.

    `schedule` is ``"inverse_sqrt"``, ``"constant"`` or a function of the round, from 1. `spectral_steps` is the number of
    Newton–Schulz steps; without it the singular value decomposition is taken.
    """

    def __init__(
        self,
        params: Iterable[Any],
        workers: int = 20,
        tolerance: int = 3,
        rule: str | Expression = "nnm+geometric_median",
        lr: float = 0.1,
        momentum: float = 0.9,
        schedule: str | Callable[[int], float] = "inverse_sqrt",
        norm: str = "l2",
        *,
        spectral_steps: int | None = None,
        strict: bool = False,
        threads: int | None = None,
    ) -> None:
        if not lr > 0:
            raise ValueError(f"lr must be above zero, got {lr}")
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum must be at least zero and below one, got {momentum}")
        if not callable(schedule) and schedule not in SCHEDULES:
            raise ValueError(f"schedule: expected a function or one of {', '.join(SCHEDULES)}, got {schedule!r}")
        self.defense = Defense(rule, tolerance, strict=strict, threads=threads)
        self.workers = workers
        self.momentum = momentum
        self.schedule = SCHEDULES[schedule] if isinstance(schedule, str) else schedule
        self.round = 0
        self._momenta: Tensor | None = None
        self.report: Aggregate | None = None
        """What became of each worker in the last explained step."""
        super().__init__(params, {"lr": lr, "norm": norm, "spectral_steps": spectral_steps})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with a rate or norm of their own."""
        super().add_param_group(param_group)
        norm = self.param_groups[-1]["norm"]
        if norm not in NORMS:
            raise ValueError(f"norm: expected one of {', '.join(NORMS)}, got {norm!r}")

    @torch.no_grad()
    def step(self, worker_gradients: Any, *, explain: bool = False) -> None:  # type: ignore[override]
        """One round: a matrix with a row per worker, or per worker a list of tensors like the parameters, or ``None`` if nothing came.

        A gradient that is not finite or of another shape is left out of this round, and of its worker's momentum. Raises
        `byz.RefusedError` where too few are left; then nothing has changed.
        """
        if len(worker_gradients) != self.workers:
            raise ValueError(f"expected the gradients of {self.workers} workers, got {len(worker_gradients)}")
        gradients = [self._flat(gradient) for gradient in worker_gradients]
        usable = [worker for worker, gradient in enumerate(gradients) if self._is_usable(gradient)]
        # A copy: a refused round leaves everything as it was.
        momenta = self._momenta_now().clone()
        for worker in usable:
            momenta[worker].lerp_(gradients[worker].to(momenta), 1 - self.momentum)
        taken = set(usable)
        messages = [momenta[worker] if worker in taken else gradient for worker, gradient in enumerate(gradients)]
        result = self.defense.aggregate(momenta if len(taken) == self.workers else messages, explain=explain)
        self.report, update = (result, result.vector) if explain else (None, result)
        self._momenta, self.round = momenta, self.round + 1
        factor, start = self.schedule(self.round), 0
        for group in self.param_groups:
            size = sum(parameter.numel() for parameter in group["params"])
            self._move(group, update[start : start + size], factor)
            start += size

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def _momenta_now(self) -> Tensor:
        """Every worker's momentum as a row, in float32 at least."""
        if self._momenta is None:
            parameters = self._parameters()
            size = sum(parameter.numel() for parameter in parameters)
            dtype = torch.promote_types(parameters[0].dtype, torch.float32)
            self._momenta = torch.zeros(self.workers, size, dtype=dtype, device=parameters[0].device)
        return self._momenta

    def _flat(self, gradient: Any) -> Any:
        """A list like the parameters as a vector; anything else as it is, for the defence to judge."""
        shapes = [parameter.shape for parameter in self._parameters()]
        if isinstance(gradient, (list, tuple)) and [getattr(part, "shape", None) for part in gradient] == shapes:
            return torch.cat([part.detach().reshape(-1) for part in gradient])
        return gradient

    def _is_usable(self, gradient: Any) -> bool:
        size = self._momenta_now().shape[1]
        return isinstance(gradient, Tensor) and gradient.shape == (size,) and bool(torch.isfinite(gradient).all())

    def _move(self, group: dict[str, Any], update: Tensor, factor: float) -> None:
        """The group's step; none where the aggregate is zero."""
        rate, start = group["lr"] * factor, 0
        if group["norm"] == "l2":
            update = _normalized(update)
        for parameter in group["params"]:
            part = update[start : start + parameter.numel()].view(parameter.shape)
            start += parameter.numel()
            if group["norm"] == "linf":
                part = part.sign()
            elif group["norm"] == "spectral":
                part = _orthogonal(part, group["spectral_steps"]) if part.ndim > 1 else _normalized(part)
            parameter.add_(part.to(parameter), alpha=-rate)

    def state_dict(self) -> dict[str, Any]:
        """The state of every worker's momentum and of the defence."""
        center = self.defense._center
        defense = {"round": self.defense.round, "center": None if center is None else torch.from_numpy(center[0])}
        return {**super().state_dict(), "round": self.round, "momenta": self._momenta, "defense": defense}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state back."""
        super().load_state_dict({name: state_dict[name] for name in ("state", "param_groups")})
        self.round = state_dict["round"]
        momenta = state_dict["momenta"]
        self._momenta = None if momenta is None else momenta.to(self._parameters()[0].device, copy=True)
        self.defense.round = state_dict["defense"]["round"]
        center = state_dict["defense"]["center"]
        self.defense._center = None if center is None else [center.numpy().copy()]


def _normalized(update: Tensor) -> Tensor:
    """Of length one; zero stays zero. The largest entry is taken out first, so that no square overflows or vanishes."""
    largest = update.abs().max() if update.numel() else update.sum()
    if largest == 0:
        return update
    update = update / largest
    return update / torch.linalg.vector_norm(update)


def _orthogonal(update: Tensor, steps: int | None) -> Tensor:
    """The matrix with all its singular values one; a kernel is a matrix of outputs × the rest."""
    matrix = _normalized(update.reshape(update.shape[0], -1))
    if not matrix.any():
        return update
    if steps is None:
        left, _, right = torch.linalg.svd(matrix, full_matrices=False)
        return (left @ right).view_as(update)
    turned = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    for _ in range(steps):
        # The quintic of Muon, steep at zero.
        square = turned @ turned.T
        turned = 3.4445 * turned + (-4.7750 * square + 2.0315 * square @ square) @ turned
    return (turned.T if turned.shape != matrix.shape else turned).reshape_as(update)


def per_worker_gradients(
    model: nn.Module,
    loss: Callable[[Tensor, Tensor], Tensor],
    batches: Sequence[tuple[Tensor, Tensor]],
    *,
    with_losses: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """One gradient per batch at the model's parameters, as rows; `with_losses` also one loss per batch.

    Batches of one size are computed at once (`torch.func.vmap`), others one after the other. The rows are in the order of
    ``model.parameters()``, those without gradient left out.
    """
    trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    fixed = {name: value for name, value in [*model.named_parameters(), *model.named_buffers()] if name not in trained}

    def of_batch(parameters: dict[str, Tensor], inputs: Tensor, targets: Tensor) -> Tensor:
        return loss(functional_call(model, {**parameters, **fixed}, (inputs,)), targets)

    detached = {name: parameter.detach() for name, parameter in trained.items()}
    one = grad_and_value(of_batch)
    if len({(inputs.shape, targets.shape) for inputs, targets in batches}) == 1:
        inputs, targets = (torch.stack(part) for part in zip(*batches, strict=True))
        gradients, losses = vmap(one, in_dims=(None, 0, 0), randomness="different")(detached, inputs, targets)
        rows = torch.cat([gradients[name].flatten(1) for name in trained], dim=1)
    else:
        found, each = zip(*(one(detached, *batch) for batch in batches), strict=True)
        rows = torch.stack([torch.cat([gradient[name].reshape(-1) for name in trained]) for gradient in found])
        losses = torch.stack(each)
    return (rows, losses) if with_losses else rows
