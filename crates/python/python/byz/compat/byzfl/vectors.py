"""ByzFL's containers: a matrix or a list of vectors, of NumPy or of PyTorch; and its checks of parameters."""

from __future__ import annotations

import functools
import math
import sys
from itertools import zip_longest
from typing import Any

import numpy as np

from ..._byz import Pipeline
from ...containers import unpack


def messages(vectors: Any) -> Any:
    """The vectors as floats of their common type, in their container. In a list, what is no such vector is left for the engine to judge.

    Integers become floats as in ByzFL; float64 stays what it is.
    """
    if isinstance(_first(vectors), np.ndarray):
        return _arrays(vectors) if isinstance(vectors, list) else vectors.astype(_array_type([vectors]), copy=False)
    torch = sys.modules["torch"]
    return _tensors(vectors, torch) if isinstance(vectors, list) else _converted(vectors, _tensor_type([vectors], torch))


def number(vectors: Any) -> int:
    """How many they are. What is no container of vectors is told before anybody asks whether they are enough."""
    _first(vectors)
    return len(vectors)


def _first(vectors: Any) -> Any:
    """The first vector of a list, the matrix itself otherwise: an array or tensor that says of what kind all are."""
    if isinstance(vectors, list) and not vectors:
        raise ValueError("no vectors were given")
    torch = sys.modules.get("torch")
    first = vectors[0] if isinstance(vectors, list) else vectors
    is_tensor = torch is not None and isinstance(first, torch.Tensor)
    if not is_tensor and not isinstance(first, np.ndarray):
        raise TypeError("'vectors' should be a list of np.ndarray or torch.Tensor, or one np.ndarray or torch.Tensor")
    if first is vectors and is_tensor and first.is_nested:
        raise TypeError("expected one row per vector, got a nested tensor; convert it first")
    if first is vectors and first.ndim < 2:
        raise ValueError(f"expected one row per vector, got a single row of shape {tuple(vectors.shape)}")
    if isinstance(first, np.ma.MaskedArray) or (first.is_complex() if is_tensor else first.dtype.kind == "c"):
        raise TypeError("expected real numbers without a mask; convert the vectors first")
    if len(vectors) == 0:
        raise ValueError("no vectors were given")
    return first


def _arrays(vectors: list[Any]) -> list[Any]:
    real = [isinstance(one, np.ndarray) and one.dtype.kind in "fiub" for one in vectors]
    wanted = _array_type([one for one, is_real in zip(vectors, real, strict=True) if is_real])
    return [one.astype(wanted, copy=False) if is_real else one for one, is_real in zip(vectors, real, strict=True)]


def _array_type(arrays: list[Any]) -> Any:
    wanted = np.result_type(*{array.dtype for array in arrays}) if arrays else None
    return wanted if wanted in (np.float16, np.float32, np.float64) else np.dtype(np.float64)


def _tensors(vectors: list[Any], torch: Any) -> list[Any]:
    real = [isinstance(one, torch.Tensor) and not one.is_complex() for one in vectors]
    wanted = _tensor_type([one for one, is_real in zip(vectors, real, strict=True) if is_real], torch)
    return [_converted(one, wanted) if is_real else one for one, is_real in zip(vectors, real, strict=True)]


def _tensor_type(tensors: list[Any], torch: Any) -> Any:
    wanted = functools.reduce(torch.promote_types, {tensor.dtype for tensor in tensors}, tensors[0].dtype if tensors else torch.float32)
    return wanted if wanted.is_floating_point else torch.float32


def _converted(tensor: Any, dtype: Any) -> Any:
    return tensor.detach().to(dtype)


def stacked(vectors: Any) -> Any:
    """One row per vector, an array or a tensor of floats. Raises where they are not of one form."""
    rows = messages(vectors)
    for problem in _problems(rows):
        if problem is not None:
            raise ValueError(f"vectors must be of one form: {problem}")
    return _joined(rows)


def _problems(rows: Any) -> list[str | None]:
    """Per vector what is wrong with its form, if anything is."""
    if not isinstance(rows, list):
        return []
    read = ("one is missing" if row is None else row for row in unpack(rows)[0])
    return [row if isinstance(row, str) else None for row in read]


def _joined(rows: Any) -> Any:
    if not isinstance(rows, list):
        return rows
    return np.stack(rows) if isinstance(rows[0], np.ndarray) else sys.modules["torch"].stack(rows)


def zeros(vectors: Any) -> Any:
    """Zero, in the shape and type of one vector, of the form of most."""
    rows = messages(vectors)
    first = next((row for row, problem in zip_longest(rows, _problems(rows)) if problem is None), rows[0])
    return np.zeros_like(first) if isinstance(first, np.ndarray) else first.new_zeros(first.shape)


def aggregated(vectors: Any, rule: str, tolerance: int, center: Any = None) -> Any:
    """The aggregate, in ByzFL's container. It promises nothing about counts, so neither are there warnings."""
    rows, form = unpack(messages(vectors))
    centers = None if center is None else list(unpack(stacked([center]))[0])
    return form.restored(Pipeline(rule, tolerance, False, None).aggregate(rows, 0, centers)[0])


def mixed(vectors: Any, step: str, tolerance: int) -> Any:
    """All vectors after a pre-aggregator, but for those that are not finite or of another form than most."""
    rows, form = unpack(messages(vectors))
    if _first(vectors).ndim == 0:
        raise ValueError("expected one row per vector, got single numbers")
    return _joined(form.restored_rows(Pipeline(f"{step}+mean", tolerance, False, None).mixed_rows(rows)[0]))


def finite(vectors: Any, tolerance: int) -> Any:
    """One row per vector that is finite and of the form of most. Refused where none is, or more than `tolerance` are not."""
    rows = messages(vectors)
    problems = _problems(rows)
    if any(problems):
        rows = [row for row, problem in zip(rows, problems, strict=True) if problem is None]
    left = _only_finite(_joined(rows)) if len(rows) else rows
    if len(left) == 0 or len(vectors) - len(left) > tolerance:
        # In the engine's words.
        aggregated(vectors, "mean", tolerance)
    return left


def _only_finite(rows: Any) -> Any:
    isfinite = np.isfinite if isinstance(rows, np.ndarray) else sys.modules["torch"].isfinite
    kept = isfinite(rows).reshape(len(rows), math.prod(rows.shape[1:])).all(axis=1)
    return rows if kept.all() else rows[kept]


def most_tolerated(vectors: Any) -> int:
    """For rules without f: anything that is not finite is left out, while more than half remains."""
    return max(0, (number(vectors) - 1) // 2)


def whole(name: str, value: Any, least: int = 0) -> int:
    """A parameter that counts."""
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}")
    return int(value)


def real(name: str, value: Any, error: type[Exception] = ValueError) -> float:
    """A parameter that measures; a plain float also where it is one of NumPy's."""
    if not isinstance(value, float):
        raise error(f"{name} must be a float")
    return float(value)


def at_most_half(vectors: Any, f: int) -> None:
    """What most of ByzFL's rules ask for."""
    if 2 * f >= number(vectors):
        raise ValueError(f"{len(vectors)} vectors cannot tolerate f={f}: n must be above 2f")
