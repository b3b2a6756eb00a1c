"""ByzFL's containers: a matrix or a list of vectors, of NumPy or of PyTorch; and its checks of parameters."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..._byz import Pipeline
from ...containers import unpack


def stacked(vectors: Any) -> Any:
    """One row per vector, an array or a tensor of floats. Integers become floats; float64 stays what it is."""
    torch = sys.modules.get("torch")
    first = vectors[0] if isinstance(vectors, list) and vectors else vectors
    if torch is not None and isinstance(first, torch.Tensor):
        tensor = torch.stack(vectors) if isinstance(vectors, list) else vectors
        return tensor if tensor.is_floating_point() else tensor.float()
    if isinstance(first, np.ndarray):
        array = np.array(vectors) if isinstance(vectors, list) else vectors
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    raise TypeError("'vectors' should be a list of np.ndarray or torch.Tensor, or one np.ndarray or torch.Tensor")


def messages(vectors: Any) -> Any:
    """What the engine is given: vectors of another length or kind become verdicts where the first is as it should be."""
    torch = sys.modules.get("torch")
    known = (np.ndarray,) if torch is None else (np.ndarray, torch.Tensor)
    if isinstance(vectors, list) and vectors and isinstance(vectors[0], known):
        floats = (np.float16, np.float32, np.float64)
        if isinstance(vectors[0], np.ndarray) and vectors[0].dtype not in floats:
            return stacked(vectors)
        return vectors
    return stacked(vectors)


def aggregated(vectors: Any, rule: str, tolerance: int, center: Any = None) -> Any:
    """The aggregate, in ByzFL's container. It promises nothing about counts, so neither are there warnings."""
    rows, restore = unpack(messages(vectors))
    centers = None if center is None else [np.asarray(center)]
    return restore(Pipeline(rule, tolerance, False, None).aggregate(rows, 0, centers)[0])


def mixed(vectors: Any, step: str, tolerance: int) -> Any:
    """All vectors after a pre-aggregator, but for those that are not finite."""
    rows, restore = unpack(stacked(vectors))
    return restore(Pipeline(f"{step}+mean", tolerance, False, None).mixed_rows(rows)[0])


def most_tolerated(vectors: Any) -> int:
    """For rules without f: anything that is not finite is left out, while more than half remains."""
    return max(0, (len(vectors) - 1) // 2)


def whole(name: str, value: Any, least: int = 0) -> int:
    """A parameter that counts."""
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}")
    return value


def real(name: str, value: Any, error: type[Exception] = ValueError) -> float:
    """A parameter that measures."""
    if not isinstance(value, float):
        raise error(f"{name} must be a float")
    return value


def at_most_half(vectors: Any, f: int) -> None:
    """What most of ByzFL's rules ask for."""
    if 2 * f >= len(vectors):
        raise ValueError(f"{len(vectors)} vectors cannot tolerate f={f}: n must be above 2f")
