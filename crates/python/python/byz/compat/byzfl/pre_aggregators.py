"""What ByzFL does to vectors before a rule sees them. Unlike ByzFL's, these leave the caller's vectors as they are."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .vectors import mixed, real, stacked, whole


class NNM:
    """Every vector becomes the mean of the n − f nearest to it, itself included."""

    def __init__(self, f: int = 0) -> None:
        self.f = whole("f", f)

    def __call__(self, vectors: Any) -> Any:
        if self.f >= len(vectors):
            raise ValueError(f"f={self.f} must be below the number of vectors, {len(vectors)}")
        return mixed(vectors, "nearest_neighbor_mixing", self.f)


class Bucketing:
    """The means of random groups of s. The order is drawn as ByzFL draws it, from NumPy's or PyTorch's global generator."""

    def __init__(self, s: int = 1) -> None:
        self.s = whole("s", s, least=1)

    def __call__(self, vectors: Any) -> Any:
        rows = stacked(vectors)
        if isinstance(rows, np.ndarray):
            order, join = np.random.permutation(len(rows)), np.stack
        else:
            torch = sys.modules["torch"]
            order, join = torch.randperm(len(rows)), torch.stack
        return join([rows[order[start : start + self.s]].mean(axis=0) for start in range(0, len(rows), self.s)])


class Clipping:
    """Vectors longer than c become of length c."""

    def __init__(self, c: float = 2.0) -> None:
        self.c = real("c", c)
        if self.c < 0:
            raise ValueError("c must be at least zero")

    def __call__(self, vectors: Any) -> Any:
        if self.c == 0:
            return 0 * stacked(vectors)
        return mixed(vectors, f"clipping(radius={self.c!r})", 0)


class ARC:
    """The ⌊2(f/n)(n − f)⌋ longest vectors become as long as the longest of the others."""

    def __init__(self, f: int = 0) -> None:
        self.f = whole("f", f)

    def __call__(self, vectors: Any) -> Any:
        if self.f > len(vectors):
            raise ValueError(f"f={self.f} must not be above the number of vectors, {len(vectors)}")
        return mixed(vectors, "adaptive_clipping", self.f)
