"""What ByzFL does to vectors before a rule sees them. Unlike ByzFL's, these leave the caller's vectors as they are."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ....algorithms import written
from ....arrays import widened
from ....containers import unpack
from ..vectors import finite, mixed, most_tolerated, number, real, whole

__all__ = ["ARC", "Bucketing", "Clipping", "NNM"]


class NNM:
    """Every vector becomes the mean of the n − f nearest to it, itself included."""

    def __init__(self, f: int = 0) -> None:
        self.f = whole("f", f)

    def __call__(self, vectors: Any) -> Any:
        if self.f >= number(vectors):
            raise ValueError(f"f={self.f} must be below the number of vectors, {len(vectors)}")
        if 2 * self.f < len(vectors):
            return mixed(vectors, "nearest_neighbor_mixing", self.f)
        # The engine refuses to mix where liars may be the majority.
        rows, form, f = _for_numpy(vectors, self.f)
        squares = np.stack([np.square(rows - row).sum(axis=1) for row in rows])
        nearest = np.argsort(squares, axis=1, kind="stable")[:, : len(rows) - f]
        return form.restored_rows(np.stack([rows[neighbors].mean(axis=0) for neighbors in nearest]))


class Bucketing:
    """The means of random groups of s. The order is drawn as ByzFL draws it, from NumPy's or PyTorch's global generator."""

    def __init__(self, s: int = 1) -> None:
        self.s = whole("s", s, least=1)

    def __call__(self, vectors: Any) -> Any:
        rows = finite(vectors, most_tolerated(vectors))
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
        tolerance = most_tolerated(vectors)
        if self.c in (0, math.inf):
            return min(self.c, 1) * finite(vectors, tolerance)
        return mixed(vectors, f"clipping(radius={written(self.c)})", tolerance)


class ARC:
    """The ⌊2(f/n)(n − f)⌋ longest vectors become as long as the longest of the others."""

    def __init__(self, f: int = 0) -> None:
        self.f = whole("f", f)

    def __call__(self, vectors: Any) -> Any:
        if self.f > number(vectors):
            raise ValueError(f"f={self.f} must not be above the number of vectors, {len(vectors)}")
        if 2 * self.f < len(vectors):
            return mixed(vectors, "adaptive_clipping", self.f)
        # As above.
        rows, form, f = _for_numpy(vectors, self.f)
        n, norms = len(rows), np.linalg.norm(rows, axis=1)
        radius = np.sort(norms)[n - 1 - 2 * f * (n - f) // n]
        longer = norms > radius
        rows[longer] *= (radius / norms[longer])[:, None]
        return form.restored_rows(rows)


def _for_numpy(vectors: Any, f: int) -> tuple[np.ndarray, Any, int]:
    """The finite vectors as a matrix of its own in float64, its form, and how many of them may be liars'."""
    rows, form = unpack(finite(vectors, f))
    return widened(rows).astype(np.float64), form, max(0, f - (len(vectors) - len(rows)))
