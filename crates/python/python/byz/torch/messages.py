"""What a worker sent, as a vector like the parameters, or what is wrong with it.

The expected form is that of the parameters, never that of most messages: were most of another length, they would become the
aggregate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._byz import RefusedError
from ..arrays import CopyWarning, Unreadable, raised, read_array, widened
from ..message import are_numbers


_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class Invalid:
    """In place of a message that is none; a defence that reads it is told why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Unreadable(self.reason)


def read_gradients(gradients: list[Any], parameters: list[Tensor], like: Tensor) -> list[Tensor | Invalid | None]:
    """Per worker a vector of the type and device of `like`, what is wrong, or ``None``. Refuses where half or more are wrong."""
    read = [None if gradient is None else _read(gradient, parameters, like) for gradient in gradients]
    wrong = [worker for worker, message in enumerate(read) if isinstance(message, Invalid)]
    present = sum(message is not None for message in read)
    if wrong and 2 * len(wrong) >= present:
        first = read[wrong[0]].reason
        refused = RefusedError(f"refused: {len(wrong)} of {present} gradients are not like the parameters; worker {wrong[0]}: {first}")
        refused.verdicts = [_verdict(message) for message in read]
        raise refused
    return read


def _verdict(message: Tensor | Invalid | None) -> str:
    if isinstance(message, Invalid):
        return f"invalid: {message.reason}"
    return "missing" if message is None else "used"


def _read(gradient: Any, parameters: list[Tensor], like: Tensor) -> Tensor | Invalid:
    try:
        if isinstance(gradient, (list, tuple)) and not are_numbers(gradient):
            return _read_list(gradient, parameters, like)
        return _read_vector(gradient, like)
    except Unreadable as problem:
        return Invalid(str(problem))
    except CopyWarning:
        raise
    except Exception as problem:
        # Whatever reading it raises is its sender's doing.
        return Invalid(raised(problem))


def _read_vector(gradient: Any, like: Tensor) -> Tensor:
    vector = _tensor(gradient)
    if vector.shape != like.shape:
        wanted = f"{like.numel()} numbers, those of the parameters that require a gradient"
        found = f"{vector.numel()}" if vector.ndim == 1 else f"an array of shape {tuple(vector.shape)}"
        raise Unreadable(f"expected {wanted}, got {found}")
    return vector.to(like)


def _read_list(parts: list[Any] | tuple[Any, ...], parameters: list[Tensor], like: Tensor) -> Tensor:
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    if len(parts) == len(parameters):
        # `[parameter.grad for parameter in …]` has None where nothing is trained.
        parts = [part for part, parameter in zip(parts, parameters, strict=True) if parameter.requires_grad]
    if len(parts) != len(trained):
        raise Unreadable(f"expected {len(trained)} arrays, one per parameter that requires a gradient, got {len(parts)}")
    tensors = [_tensor(part) for part in parts]
    for position, (tensor, parameter) in enumerate(zip(tensors, trained, strict=True)):
        if tensor.shape != parameter.shape:
            raise Unreadable(f"array {position}: expected shape {tuple(parameter.shape)}, got {tuple(tensor.shape)}")
    return torch.cat([tensor.reshape(-1).to(like) for tensor in tensors])


def _tensor(value: Any) -> Tensor:
    """Floats of any kind as a tensor."""
    if isinstance(value, Tensor):
        if value.dtype not in _FLOATS or value.layout is not torch.strided or value.is_meta:
            dtype = str(value.dtype).removeprefix("torch.")
            raise Unreadable(f"expected a dense tensor of floats, got {dtype}, {value.layout}; convert it first")
        return value.detach()
    if isinstance(value, (list, tuple)) and not are_numbers(value):
        raise Unreadable(f"expected an array of floats, got {type(value).__name__}")
    # A copy: PyTorch takes no array that is read-only or runs backwards.
    return torch.from_numpy(np.array(widened(read_array(value).array), order="C"))
