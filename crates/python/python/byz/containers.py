"""What users hold their vectors in, to what the engine reads, and back.

Accepted: an array or tensor whose first axis is the worker; or a list with, per worker, an array, a tensor, a list or tuple of
them (parameters), a mapping of them (a state dict), plain numbers, or ``None`` where nothing came. Nothing is copied but
what lies in memory in a way that no stride describes. The aggregate comes back in the same container, type and device.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Restore = Callable[[np.ndarray], Any]

# A list of tensors up to this size is copied into one: cheaper than looking at each.
_SMALL = 1 << 14


class Unreadable(TypeError):
    """This is no message; says why."""


class Part(NamedTuple):
    """One array of a message."""

    array: np.ndarray
    """As the engine reads it: bfloat16 as uint16."""
    dtype: str
    shape: tuple[int, ...]
    source: Any
    """What the user gave."""

    def restored(self, vector: np.ndarray) -> Any:
        """Part of an aggregate in the shape, type and place of this array."""
        return _like(self.source, self.dtype)(vector.reshape(self.shape))


def unpack(vectors: Any) -> tuple[np.ndarray | list[Any], Restore]:
    """The engine's view of the messages, and how to hand an aggregate back."""
    if isinstance(vectors, np.ndarray) or _is_tensor(vectors):
        return _unpack_stack(vectors)
    if isinstance(vectors, (list, tuple)):
        if _are_plain_rows(vectors):
            return list(vectors), _like(vectors[0], vectors[0].dtype.name)
        stacked = _stacked(vectors)
        return _unpack_workers(vectors) if stacked is None else _unpack_stack(stacked)
    if hasattr(vectors, "__dlpack__") or hasattr(vectors, "__array__"):
        return _unpack_stack(np.asarray(vectors))
    raise TypeError(f"vectors: expected an array, a tensor or a list with one message per worker, got {_kind(vectors)}")


def _unpack_stack(stack: Any) -> tuple[np.ndarray, Restore]:
    if stack.ndim < 2:
        raise ValueError(f"vectors: expected one row per worker, got a single row of shape {tuple(stack.shape)}")
    try:
        part = read_array(stack)
    except Unreadable as problem:
        raise TypeError(f"vectors: {problem}") from None
    rows = part.array if stack.ndim == 2 else part.array.reshape(part.shape[0], -1)
    restore = _like(stack, part.dtype)
    if stack.ndim == 2:
        return rows, restore
    return rows, lambda vector: restore(vector.reshape(part.shape[1:]))


def _are_plain_rows(vectors: Sequence[Any]) -> bool:
    """Whether all are vectors of NumPy of one kind, with nothing left to look at."""
    first = vectors[0] if vectors else None
    if type(first) is not np.ndarray or first.ndim != 1 or first.dtype not in (np.float32, np.float64):
        return False
    like = (np.ndarray, first.dtype, first.shape)
    return first.dtype.isnative and all((type(one), getattr(one, "dtype", None), getattr(one, "shape", None)) == like for one in vectors)


def _stacked(vectors: Sequence[Any]) -> Any:
    """Small tensors of one kind as one; none if they are not that."""
    torch = sys.modules.get("torch")
    if torch is None or not vectors or type(vectors[0]) is not torch.Tensor:
        return None
    first = vectors[0]
    if first.numel() * len(vectors) > _SMALL:
        return None
    like = (torch.Tensor, first.dtype, first.shape, first.device)
    if any((type(one), getattr(one, "dtype", None), getattr(one, "shape", None), getattr(one, "device", None)) != like for one in vectors):
        return None
    return torch.stack([one.detach() for one in vectors] if first.requires_grad else list(vectors))


class _Message(NamedTuple):
    parts: list[Part]
    keys: tuple[Any, ...] | None
    container: type | None

    @property
    def signature(self) -> Any:
        return self.keys, tuple((part.dtype, part.shape) for part in self.parts)

    def described(self) -> str:
        inside = ", ".join(f"{part.dtype} of shape {part.shape}" for part in self.parts[:4])
        more = f" and {len(self.parts) - 4} more" if len(self.parts) > 4 else ""
        return f"{inside}{more}" if self.container is None else f"{self.container.__name__} of {inside}{more}"

    def restored(self, vector: np.ndarray) -> Any:
        """An aggregate as the worker wrote its message."""
        made, start = [], 0
        for part in self.parts:
            made.append(part.restored(vector[start : start + part.array.size]))
            start += part.array.size
        if self.container is None:
            return made[0]
        if self.keys is not None:
            return dict(zip(self.keys, made, strict=True))
        return made


def _unpack_workers(vectors: Sequence[Any]) -> tuple[list[Any], Restore]:
    read: list[_Message | str | None] = []
    for message in vectors:
        try:
            read.append(None if message is None else _read_message(message))
        except Unreadable as problem:
            read.append(str(problem))
    messages = [message for message in read if isinstance(message, _Message)]
    problems = [message for message in read if isinstance(message, str)]
    if problems and not messages:
        raise TypeError(f"vectors: {problems[0]}")
    if not messages:
        # For the engine to refuse.
        return list(read), lambda vector: vector
    usual = _usual(messages, present=sum(message is not None for message in read))
    rows = [_row(message, usual) for message in read]
    return rows, (usual or messages[0]).restored


def _usual(messages: list[_Message], present: int) -> _Message | None:
    """A message of the form that more than half have; none if there is no such form."""
    signature, count = Counter(message.signature for message in messages).most_common(1)[0]
    if 2 * count <= present:
        return None
    return next(message for message in messages if message.signature == signature)


def _row(message: _Message | str | None, usual: _Message | None) -> Any:
    """What the engine is told of a message: its arrays, or what is wrong with it."""
    if not isinstance(message, _Message):
        return message
    if usual is None:
        return f"{message.described()}, and no form is that of more than half"
    if message.signature != usual.signature:
        return f"{message.described()}, expected {usual.described()}"
    return [part.array for part in message.parts]


def _read_message(message: Any) -> _Message:
    if isinstance(message, Mapping):
        return _Message([_read_part(value) for value in message.values()], tuple(message), dict)
    if isinstance(message, (list, tuple)) and not _are_numbers(message):
        return _Message([_read_part(value) for value in message], None, list)
    return _Message([_read_part(message)], None, None)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float, np.floating, np.integer)) for value in values)


def read_array(value: Any) -> Part:
    """An array as the engine reads it."""
    if _is_tensor(value):
        array, dtype = _tensor_array(value)
    else:
        array, dtype = _numpy_array(value)
    return Part(array, dtype, tuple(array.shape), value)


def _read_part(value: Any) -> Part:
    """The same, in one piece if it has several dimensions."""
    part = read_array(value)
    return part if part.array.ndim == 1 else part._replace(array=np.ascontiguousarray(part.array))


def _numpy_array(value: Any) -> tuple[np.ndarray, str]:
    if isinstance(value, (list, tuple)):
        try:
            value = np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as problem:
            raise Unreadable(f"expected numbers: {problem}") from None
    elif isinstance(value, (int, float)):
        value = np.float64(value)
    elif not isinstance(value, (np.ndarray, np.generic)) and not hasattr(value, "__array__"):
        raise Unreadable(f"expected an array of floats, got {_kind(value)}")
    array = np.asarray(value)
    dtype = array.dtype
    if dtype.name == "bfloat16":
        return array.view(np.uint16), "bfloat16"
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise Unreadable(f"expected float16, bfloat16, float32 or float64, got {dtype.name}; convert it first")
    return (array if dtype.isnative else array.astype(dtype.newbyteorder("="))), dtype.name


def widened(array: np.ndarray) -> np.ndarray:
    """An array for arithmetic in NumPy: bfloat16, which came as uint16, and float16 as float32."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if array.dtype == np.float16 else array


_told_of_devices = False


def _tensor_array(tensor: Any) -> tuple[np.ndarray, str]:
    torch = sys.modules["torch"]
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in ("float16", "bfloat16", "float32", "float64") or tensor.layout is not torch.strided:
        raise Unreadable(f"expected a dense tensor of floats, got {dtype}, {tensor.layout}; convert it first")
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        global _told_of_devices
        if not _told_of_devices:
            _told_of_devices = True
            warnings.warn(f"byz aggregates on the CPU: tensors on {tensor.device} are copied", stacklevel=5)
        tensor = tensor.cpu()
    if dtype == "bfloat16":
        return tensor.view(torch.int16).numpy().view(np.uint16), dtype
    return tensor.numpy(), dtype


def _like(source: Any, dtype: str) -> Restore:
    """How an aggregate becomes what `source` is."""
    if _is_tensor(source):
        from_numpy = sys.modules["torch"].from_numpy
        return lambda vector: from_numpy(vector).to(device=source.device, dtype=source.dtype)
    wanted = source.dtype if dtype == "bfloat16" else np.dtype(dtype)
    return lambda vector: vector.astype(wanted, copy=False)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
