"""The global model, and what a reply says about it.

A reply is bytes from a stranger. Everything it declares is compared with the model before a byte is decoded, and what is decoded is
a NumPy header of format 1.0 and plain numbers: no pickle, and no `numpy.load`, which would also unpack an archive.
"""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

import numpy as np
from flwr.app import Array, ArrayRecord, RecordDict
from flwr.common.constant import SType
from numpy.lib import format as npy

# A header may be a block of padding longer than the server's own: Fortran order, say.
_HEADER_BLOCK = 64


class InvalidReply(ValueError):
    """This reply is no update of the model; says why."""


class _Part(NamedTuple):
    """One array of the model."""

    dtype: np.dtype
    shape: tuple[int, ...]
    bytes: int
    """Of the numbers."""
    longest: int
    """Bytes that may be sent: numbers and header."""
    start: int | None
    """Where its numbers are in the vector; none if it is not trained."""

    @property
    def size(self) -> int:
        return self.bytes // self.dtype.itemsize


class Model:
    """An `ArrayRecord` as one vector.

    The vector holds the arrays of floats, in float64 if one of them is, else in float32. Arrays of integers and booleans (the
    counters of batch normalisation) are not aggregated: a robust mean of counters means nothing. They stay as they are.
    """

    def __init__(self, record: ArrayRecord) -> None:
        self.record = record
        arrays = {name: array.numpy() for name, array in record.items()}
        self._parts: dict[str, _Part] = {}
        start = 0
        for name, array in arrays.items():
            _check_kind(name, array.dtype)
            trained = array.dtype.kind == "f"
            longest = len(record[name].data) + _HEADER_BLOCK
            self._parts[name] = _Part(array.dtype, array.shape, array.nbytes, longest, start if trained else None)
            start += array.size if trained else 0
        if not start:
            raise ValueError("the model has no floats to train; give initial_arrays with float16, float32 or float64 arrays")
        double = any(array.dtype == np.float64 for array in arrays.values())
        self.vector = np.empty(start, np.float64 if double else np.float32)
        for name, part in self._trained():
            self.vector[part.start : part.start + part.size] = arrays[name].reshape(-1)
        if not np.isfinite(self.vector).all():
            raise ValueError("the model has NaNs or infinities; start from finite arrays")

    def update_in(self, content: RecordDict) -> np.ndarray:
        """The reply minus the model. Raises `InvalidReply`, and nothing else."""
        records = [record for record in content.values() if isinstance(record, ArrayRecord)]
        if len(records) != 1:
            raise InvalidReply(f"expected one ArrayRecord, got {len(records)}")
        record = records[0]
        if record.keys() != self._parts.keys():
            raise InvalidReply(_difference(record, self._parts))
        for name, part in self._parts.items():
            _check_declared(name, record[name], part)
        update = np.empty_like(self.vector)
        for name, part in self._trained():
            update[part.start : part.start + part.size] = _decoded(name, record[name], part).reshape(-1)
        # Numbers that are finite may still be further apart than the type can say.
        with np.errstate(over="ignore", invalid="ignore"):
            update -= self.vector
        self._check_finite(update)
        return update

    def moved(self, step: np.ndarray) -> ArrayRecord | None:
        """The model after a step; none if it would not be finite."""
        arrays: dict[str, Array] = dict(self.record)
        vector = self.vector + step.astype(self.vector.dtype, copy=False)
        for name, part in self._trained():
            array = vector[part.start : part.start + part.size].reshape(part.shape).astype(part.dtype)
            if not np.isfinite(array).all():
                return None
            arrays[name] = Array(array)
        return ArrayRecord(arrays)

    def _trained(self) -> list[tuple[str, _Part]]:
        return [(name, part) for name, part in self._parts.items() if part.start is not None]

    def _check_finite(self, update: np.ndarray) -> None:
        finite = np.isfinite(update)
        if finite.all():
            return
        first = int(finite.argmin())
        name = next(name for name, part in self._trained() if part.start <= first < part.start + part.size)
        kind = "NaN" if np.isnan(update[first]) else "an infinity or a value too far from the model's"
        raise InvalidReply(f"array {name!r} has {kind}")


def _check_kind(name: str, dtype: np.dtype) -> None:
    if dtype.kind in "iub" or (dtype.kind == "f" and dtype.itemsize in (2, 4, 8) and dtype.isnative):
        return
    raise ValueError(f"array {name!r} of the model is {dtype}; expected float16, float32, float64, integers or booleans: convert it")


def _difference(record: ArrayRecord, parts: dict[str, _Part]) -> str:
    missing, unknown = sorted(parts.keys() - record.keys()), sorted(record.keys() - parts.keys())
    # A name from outside goes to logs: as text without control characters, and not all of it.
    return f"its arrays are not the model's: {len(missing)} missing, {len(unknown)} unknown ({ascii((missing + unknown)[0])[:60]})"


def _check_declared(name: str, array: Array, part: _Part) -> None:
    """What the reply says of an array, and how many bytes came, against the model."""
    if array.stype != SType.NUMPY:
        raise InvalidReply(f"array {name!r} is serialised as {ascii(array.stype)[:60]}, expected {SType.NUMPY}")
    if tuple(array.shape) != part.shape:
        raise InvalidReply(f"array {name!r} is of shape {str(tuple(array.shape))[:60]}, expected {part.shape}")
    if array.dtype != str(part.dtype):
        raise InvalidReply(f"array {name!r} is {ascii(array.dtype)[:60]}, expected {part.dtype}")
    if not part.bytes < len(array.data) <= part.longest:
        raise InvalidReply(f"array {name!r} has {len(array.data)} bytes, expected {part.bytes} and a header")


def _decoded(name: str, array: Array, part: _Part) -> np.ndarray:
    """The numbers of an array, once its header says again what was declared."""
    stream = BytesIO(array.data)
    try:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError("format 1.0 expected")
        shape, fortran_order, dtype = npy.read_array_header_1_0(stream)
    # NumPy reads the header as Python text: what a hostile one raises is not a closed list.
    except Exception as problem:
        raise InvalidReply(f"array {name!r} has no NumPy header: {ascii(str(problem))[:60]}") from None
    start = stream.tell()
    if dtype != part.dtype or shape != part.shape or len(array.data) - start != part.bytes:
        raise InvalidReply(f"array {name!r} is not what it was declared to be")
    if part.bytes == 0:
        return np.empty(part.shape, part.dtype)
    flat = np.frombuffer(array.data, part.dtype, offset=start)
    return flat.reshape(part.shape, order="F" if fortran_order else "C")
