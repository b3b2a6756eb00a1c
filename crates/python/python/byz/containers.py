"""What users hold their vectors in, to what the engine reads, and back.

Accepted: an array or tensor whose first axis is the worker; or a list with, per worker, an array, a tensor, a list or tuple of
them (parameters), a mapping of them (a state dict), plain numbers, or ``None`` where nothing came; lists and mappings may lie
in each other. An array is NumPy's or whatever has ``__array__``, ``__dlpack__`` or a buffer. Nothing is copied but what lies in
memory in a way that no stride describes. What is handed back has the same container, type and device; arrays of other
libraries come back as NumPy's.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

# A list of tensors up to this size is copied into one: cheaper than looking at each.
_SMALL = 1 << 14

# What the engine reads as it is. Another byte order is another type.
_FLOATS = {np.dtype(name): name for name in ("float16", "float32", "float64")}


class Unreadable(TypeError):
    """This is no message; says why."""


class CopyWarning(UserWarning):
    """Tensors are copied to the CPU."""


class Stack(NamedTuple):
    """An array or tensor whose first axis is the worker, as a form for what is handed back."""

    source: Any
    dtype: str
    shape: tuple[int, ...]

    def restored(self, vector: np.ndarray) -> Any:
        """One vector in the shape, type and place of a worker's."""
        return _like(self.source, self.dtype, vector if len(self.shape) == 2 else vector.reshape(self.shape[1:]))

    def restored_rows(self, rows: np.ndarray) -> Any:
        """Rows in the shape, type and place of the workers'."""
        return _like(self.source, self.dtype, rows if len(self.shape) == 2 else rows.reshape(len(rows), *self.shape[1:]))


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
        return _like(self.source, self.dtype, vector.reshape(self.shape))


class Message(NamedTuple):
    """What one worker sent."""

    parts: list[Part]
    tree: Any
    """What the parts lay in: none for a single array, otherwise the keys (none for a list) and a tree for everything inside."""

    @property
    def signature(self) -> Any:
        return self.tree, tuple((part.dtype, part.shape) for part in self.parts)

    def described(self) -> str:
        inside = ", ".join(f"{part.dtype} of shape {part.shape}" for part in self.parts[:4])
        more = f" and {len(self.parts) - 4} more" if len(self.parts) > 4 else ""
        if self.tree is None:
            return inside
        return f"{'list' if self.tree[0] is None else 'dict'} of {inside}{more}"

    def restored(self, vector: np.ndarray) -> Any:
        """An aggregate as the worker wrote its message."""
        ends = list(accumulate(part.array.size for part in self.parts))
        pieces = (part.restored(vector[end - part.array.size : end]) for part, end in zip(self.parts, ends, strict=True))
        return _grown(self.tree, pieces)


def _grown(tree: Any, pieces: Iterator[Any]) -> Any:
    if tree is None:
        return next(pieces)
    keys, inside = tree
    grown = [_grown(branch, pieces) for branch in inside]
    return grown if keys is None else dict(zip(keys, grown, strict=True))


class Listed(NamedTuple):
    """A list with a message per worker, as a form for what is handed back."""

    like: Part | Message

    def restored(self, vector: np.ndarray) -> Any:
        """One vector as a worker wrote its message."""
        return self.like.restored(vector)

    def restored_rows(self, rows: np.ndarray) -> list[Any]:
        """Rows as the workers wrote their messages."""
        return [self.like.restored(row) for row in rows]


def unpack(vectors: Any) -> tuple[np.ndarray | list[Any], Stack | Listed]:
    """The engine's view of the messages, and the form in which to hand back what it makes of them."""
    if isinstance(vectors, np.ndarray) or _is_tensor(vectors):
        return _unpack_stack(vectors)
    if isinstance(vectors, (list, tuple)):
        if _are_plain_rows(vectors):
            first = vectors[0]
            return list(vectors), Listed(Part(first, _FLOATS[first.dtype], first.shape, first))
        stacked = _stacked(vectors)
        if stacked is None:
            return _unpack_workers(vectors)
        rows, form = _unpack_stack(stacked)
        return rows, Listed(Part(rows[0], form.dtype, form.shape[1:], stacked))
    if isinstance(vectors, (str, bytes, bytearray)) or not _is_foreign(vectors):
        raise TypeError(f"vectors: expected an array, a tensor or a list with one message per worker, got {_kind(vectors)}")
    return _unpack_stack(_foreign_array(vectors))


def _unpack_stack(stack: Any) -> tuple[np.ndarray, Stack]:
    if stack.ndim < 2:
        raise ValueError(f"vectors: expected one row per worker, got a single row of shape {tuple(stack.shape)}")
    try:
        array, dtype = _tensor_array(stack) if _is_tensor(stack) else _numpy_array(stack)
    except Unreadable as problem:
        raise TypeError(f"vectors: {problem}") from None
    shape = array.shape
    rows = array if len(shape) == 2 else array.reshape(shape[0], math.prod(shape[1:]))
    return rows, Stack(stack, dtype, shape)


def _are_plain_rows(vectors: Sequence[Any]) -> bool:
    """Whether all are vectors of NumPy of one kind, with nothing left to look at."""
    first = vectors[0] if vectors else None
    if type(first) is not np.ndarray or first.ndim != 1 or _FLOATS.get(first.dtype) not in ("float32", "float64"):
        return False
    dtype, shape = first.dtype, first.shape
    return all(type(one) is np.ndarray and one.dtype == dtype and one.shape == shape for one in vectors)


def _stacked(vectors: Sequence[Any]) -> Any:
    """Small tensors of one kind as one; none if they are not that."""
    torch = sys.modules.get("torch")
    if torch is None or not vectors or type(vectors[0]) is not torch.Tensor:
        return None
    first = vectors[0]
    if first.ndim == 0 or first.numel() * len(vectors) > _SMALL:
        return None
    like = (first.dtype, first.shape, first.device)
    try:
        if not all(type(one) is torch.Tensor and (one.dtype, one.shape, one.device) == like for one in vectors):
            return None
        return torch.stack([one.detach() for one in vectors] if first.requires_grad else list(vectors))
    except RuntimeError:
        # One of them is not dense.
        return None


def _unpack_workers(vectors: Sequence[Any]) -> tuple[list[Any], Listed]:
    read = [None if message is None else _judged(message) for message in vectors]
    messages = [message for message in read if isinstance(message, Message)]
    problems = [message for message in read if isinstance(message, str)]
    if problems and not messages:
        raise TypeError(f"vectors: {problems[0]}")
    if not messages:
        # For the engine to refuse.
        return list(read), Listed(read_array([]))
    usual = _usual(messages, present=sum(message is not None for message in read))
    rows = [_row(message, usual) for message in read]
    return rows, Listed(usual or messages[0])


def _judged(message: Any) -> Message | str:
    """A message as it is read, or what is wrong with it: whatever reading it raises is its sender's doing."""
    try:
        parts: list[Part] = []
        read = Message(parts, _read_tree(message, parts))
        hash(read.signature)
        return read
    except Unreadable as problem:
        return str(problem)
    except CopyWarning:
        raise
    except Exception as problem:
        lines = str(problem).splitlines() or [""]
        # The engine takes no half characters.
        return f"reading it raised {type(problem).__name__}: {lines[0]}".encode(errors="replace").decode()


def _usual(messages: list[Message], present: int) -> Message | None:
    """A message of the form that more than half have; none if there is no such form."""
    signature, count = Counter(message.signature for message in messages).most_common(1)[0]
    if 2 * count <= present:
        return None
    return next(message for message in messages if message.signature == signature)


def _row(message: Message | str | None, usual: Message | None) -> Any:
    """What the engine is told of a message: its arrays, or what is wrong with it."""
    if not isinstance(message, Message):
        return message
    if usual is None:
        return f"{message.described()}, and no form is that of more than half"
    if message.signature != usual.signature:
        return f"{message.described()}, expected {usual.described()}"
    return [part.array for part in message.parts]


def _read_tree(value: Any, parts: list[Part]) -> Any:
    """Appends the arrays of a message to `parts`; what they lie in."""
    if isinstance(value, Mapping):
        return tuple(value), tuple(_read_tree(inside, parts) for inside in value.values())
    if isinstance(value, (list, tuple)) and not are_numbers(value):
        return None, tuple(_read_tree(inside, parts) for inside in value)
    part = read_array(value)
    parts.append(part if part.array.ndim == 1 else part._replace(array=np.ascontiguousarray(part.array)))
    return None


def are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float, np.floating, np.integer)) for value in values)


def read_array(value: Any) -> Part:
    """An array as the engine reads it."""
    array, dtype = _tensor_array(value) if _is_tensor(value) else _numpy_array(value)
    return Part(array, dtype, array.shape, value)


def _numpy_array(value: Any) -> tuple[np.ndarray, str]:
    array = value if type(value) is np.ndarray else _as_numpy(value)
    known = _FLOATS.get(array.dtype)
    if known is not None:
        return array, known
    dtype = array.dtype
    if dtype.name == "bfloat16":
        return array.view(np.uint16), "bfloat16"
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise Unreadable(f"expected float16, bfloat16, float32 or float64, got {dtype.name}; convert it first")
    return array.astype(dtype.newbyteorder("=")), dtype.name


def _as_numpy(value: Any) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise Unreadable("a masked array has no values under its mask; fill it first, with filled()")
    if isinstance(value, (int, float, list, tuple)):
        try:
            return np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as problem:
            raise Unreadable(f"expected numbers: {problem}") from None
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not _is_foreign(value):
        raise Unreadable(f"expected an array of floats, got {_kind(value)}")
    return _foreign_array(value)


def _is_foreign(value: Any) -> bool:
    """Whether it is an array of another library: by NumPy's protocol, DLPack, or Python's buffers."""
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def _foreign_array(value: Any) -> np.ndarray:
    return np.asarray(value) if hasattr(value, "__array__") or not hasattr(value, "__dlpack__") else np.from_dlpack(value)


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
        tensor = _on_cpu(tensor)
    if dtype == "bfloat16":
        return tensor.resolve_neg().view(torch.int16).numpy().view(np.uint16), dtype
    try:
        return tensor.numpy(), dtype
    except RuntimeError:
        # A view with the sign turned, as the imaginary part of a conjugate is.
        return tensor.resolve_neg().numpy(), dtype


def _on_cpu(tensor: Any) -> Any:
    if tensor.is_meta:
        raise Unreadable("a tensor on the device meta has no values")
    global _told_of_devices
    if not _told_of_devices:
        _told_of_devices = True
        warnings.warn(f"byz aggregates on the CPU: tensors on {tensor.device} are copied", CopyWarning, stacklevel=7)
    return tensor.cpu()


def _like(source: Any, dtype: str, values: np.ndarray) -> Any:
    """Values of the engine as what `source` is."""
    if _is_tensor(source):
        return sys.modules["torch"].from_numpy(values).to(device=source.device, dtype=source.dtype)
    return values.astype(source.dtype if dtype == "bfloat16" else dtype, copy=False)


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
