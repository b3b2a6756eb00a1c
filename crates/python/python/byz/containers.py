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
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._byz import MOST_WORKERS
from .arrays import FLOATS, CopyWarning, Part, Unreadable, is_foreign, kind_of, like, raised, read_array
from .message import Message, layout_difference, read_message

# A list of tensors up to this size is copied into one: cheaper than looking at each.
_SMALL = 1 << 14


class OtherLayout(ValueError):
    """The messages have other keys or shapes than those that are remembered."""


class Stack(NamedTuple):
    """An array or tensor whose first axis is the worker, as a form for what is handed back."""

    source: Any
    dtype: str
    shape: tuple[int, ...]

    @property
    def layout(self) -> Any:
        """As `Message.layout`."""
        return self.shape[1:]

    def restored(self, vector: np.ndarray) -> Any:
        """One vector in the shape, type and place of a worker's."""
        return like(self.source, self.dtype, vector if len(self.shape) == 2 else vector.reshape(self.shape[1:]))

    def restored_rows(self, rows: np.ndarray) -> Any:
        """Rows in the shape, type and place of the workers'."""
        return like(self.source, self.dtype, rows if len(self.shape) == 2 else rows.reshape(len(rows), *self.shape[1:]))


class Listed(NamedTuple):
    """A list with a message per worker, as a form for what is handed back."""

    like: Part | Message

    @property
    def layout(self) -> Any:
        """As `Message.layout`."""
        return self.like.layout if isinstance(self.like, Message) else self.like.shape

    def restored(self, vector: np.ndarray) -> Any:
        """One vector as a worker wrote its message."""
        return self.like.restored(vector)

    def restored_rows(self, rows: np.ndarray) -> list[Any]:
        """Rows as the workers wrote their messages."""
        return [self.like.restored(row) for row in rows]


def unpack(vectors: Any, layout: Any = None) -> tuple[np.ndarray | list[Any], Stack | Listed]:
    """The engine's view of the messages, and the form in which to hand back what it makes of them.

    With a `layout`, that of an earlier form, the coordinates are in its order; raises `OtherLayout` where most messages have another.
    """
    if isinstance(vectors, (list, tuple)):
        _check_workers(len(vectors), "messages")
        if _are_plain_rows(vectors):
            first = vectors[0]
            return _checked(list(vectors), Listed(Part(first, FLOATS[first.dtype], first.shape, first)), layout)
        stacked = _stacked(vectors)
        if stacked is None:
            return _unpack_workers(vectors, layout)
        rows, form = _unpack_stack(stacked)
        return _checked(rows, Listed(Part(rows[0], form.dtype, form.shape[1:], stacked)), layout)
    if isinstance(vectors, (str, bytes, bytearray)) or not is_foreign(vectors):
        raise TypeError(f"vectors: expected an array, a tensor or a list with one message per worker, got {kind_of(vectors)}")
    return _checked(*_unpack_stack(vectors), layout)


def _check_workers(found: int, what: str) -> None:
    """Rules keep a number for every two workers: more of them than anybody has would end the process."""
    if found > MOST_WORKERS:
        raise ValueError(f"vectors: {found} {what} would be as many workers, more than {MOST_WORKERS}; is the matrix transposed?")


def _checked(rows: np.ndarray | list[Any], form: Stack | Listed, layout: Any) -> tuple[np.ndarray | list[Any], Stack | Listed]:
    """The same, if it has the layout; rows that are none have any."""
    if layout is not None and len(rows) and form.layout != layout:
        raise OtherLayout(layout_difference(form.layout, layout))
    return rows, form


def _unpack_stack(stack: Any) -> tuple[np.ndarray, Stack]:
    try:
        array, dtype, shape, source = read_array(stack)
    except Unreadable as problem:
        raise TypeError(f"vectors: {problem}") from None
    except (CopyWarning, MemoryError):
        raise
    except Exception as problem:
        # What has no numbers to show, as a fake tensor has not, says so in ways of its own.
        raise TypeError(f"vectors: {raised(problem)}") from problem
    if len(shape) < 2:
        raise ValueError(f"vectors: expected one row per worker, got a single row of shape {shape}")
    _check_workers(shape[0], "rows")
    rows = array if len(shape) == 2 else array.reshape(shape[0], math.prod(shape[1:]))
    return rows, Stack(source, dtype, shape)


def _are_plain_rows(vectors: Sequence[Any]) -> bool:
    """Whether all are vectors of NumPy of one kind, with nothing left to look at."""
    first = vectors[0] if vectors else None
    if type(first) is not np.ndarray or first.ndim != 1 or FLOATS.get(first.dtype) not in ("float32", "float64"):
        return False
    dtype, shape = first.dtype, first.shape
    return all(type(one) is np.ndarray and one.dtype == dtype and one.shape == shape for one in vectors)


def _stacked(vectors: Sequence[Any]) -> Any:
    """Small tensors of one kind as one; none if they are not that."""
    torch = sys.modules.get("torch")
    if torch is None or not vectors or type(vectors[0]) is not torch.Tensor:
        return None
    first = vectors[0]
    if first.is_nested or first.ndim == 0 or first.numel() * len(vectors) > _SMALL:
        return None
    like = (first.dtype, first.shape, first.device)
    try:
        if not all(type(one) is torch.Tensor and (one.dtype, one.shape, one.device) == like for one in vectors):
            return None
        return torch.stack([one.detach() for one in vectors] if first.requires_grad else list(vectors))
    except RuntimeError:
        # One of them is not dense.
        return None


def _unpack_workers(vectors: Sequence[Any], layout: Any) -> tuple[list[Any], Stack | Listed]:
    read = [None if message is None else read_message(message) for message in vectors]
    messages = [message for message in read if isinstance(message, Message)]
    problems = [message for message in read if isinstance(message, str)]
    if problems and not messages:
        raise TypeError(f"vectors: {problems[0]}")
    if not messages:
        # For the engine to refuse.
        return list(read), Listed(read_array([]))
    usual = _usual(messages, present=sum(message is not None for message in read))
    if usual is None:
        # For the engine to refuse.
        return [_row(message, None) for message in read], Listed(messages[0])
    if layout is not None:
        _checked(read, Listed(usual), layout)
        usual = usual.ordered(layout)
    return [_row(message, usual) for message in read], Listed(usual)


def _usual(messages: list[Message], present: int) -> Message | None:
    """A message of the form that more than half have; none if there is no such form."""
    signature, count = Counter(message.signature for message in messages).most_common(1)[0]
    if 2 * count <= present:
        return None
    alike = [message for message in messages if message.signature == signature]
    # Not that of the first, which may be a liar's: a centre that is remembered must find its coordinates again.
    order = Counter(message.order for message in alike).most_common(1)[0][0]
    return next(message for message in alike if message.order == order)


def _row(message: Message | str | None, usual: Message | None) -> Any:
    """What the engine is told of a message: its arrays, or what is wrong with it."""
    if not isinstance(message, Message):
        return message
    if usual is None:
        return f"{message.described()}, and no form is that of more than half"
    if message.signature != usual.signature:
        return message.difference(usual)
    return message.arrays(like=usual)
