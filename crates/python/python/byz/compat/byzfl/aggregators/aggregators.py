"""ByzFL's rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....algorithms import written
from ....arrays import is_tensor
from ..vectors import aggregated, at_most_half, most_tolerated, real, whole, zeros

__all__ = [
    "Average",
    "CAF",
    "CenteredClipping",
    "GeometricMedian",
    "Krum",
    "MDA",
    "Meamed",
    "Median",
    "MoNNA",
    "MultiKrum",
    "SMEA",
    "TrMean",
]


class _WithoutF:
    """A rule that is told nothing of the number of liars."""

    rule: str

    def __call__(self, vectors: Any) -> Any:
        return aggregated(vectors, self.rule, most_tolerated(vectors))


class _WithF:
    """A rule for up to f liars of n > 2f."""

    rule: str

    def __init__(self, f: int = 0) -> None:
        self.f = whole("f", f)

    def __call__(self, vectors: Any) -> Any:
        at_most_half(vectors, self.f)
        return aggregated(vectors, self.rule, self.f)


class Average(_WithoutF):
    """The mean."""

    rule = "mean"


class Median(_WithoutF):
    """The median of every coordinate."""

    rule = "median"


class TrMean(_WithF):
    """The mean of every coordinate without its f smallest and f largest values."""

    rule = "trimmed_mean"


class Meamed(_WithF):
    """The mean of the n − f values nearest to the median of every coordinate."""

    rule = "mean_around_median"


class MDA(_WithF):
    """The mean of the n − f vectors with the least diameter."""

    rule = "minimum_diameter_averaging"


class SMEA(_WithF):
    """The mean of the n − f vectors whose covariance has the least largest eigenvalue; exact."""

    rule = "smea"


class CAF(_WithF):
    """The weighted mean that a filter by the largest eigenvalue of the covariance finds; eigenvalues to convergence."""

    rule = "caf"


class Krum(_WithF):
    """The vector with the least sum of squared distances to its n − f − 1 nearest."""

    def __call__(self, vectors: Any) -> Any:
        at_most_half(vectors, self.f)
        if len(vectors) == 1:
            return aggregated(vectors, "mean", 0)
        return aggregated(vectors, "krum(neighbors=n-f-1)", self.f)


class MultiKrum(_WithF):
    """The mean of the n − f vectors of the least Krum scores."""

    def __call__(self, vectors: Any) -> Any:
        at_most_half(vectors, self.f)
        if len(vectors) == 1:
            return aggregated(vectors, "mean", 0)
        return aggregated(vectors, f"multi_krum(select={len(vectors) - self.f},neighbors=n-f-1)", self.f)


class MoNNA(_WithF):
    """The mean of the n − f vectors nearest to the one of a trusted worker."""

    def __init__(self, f: int = 0, idx: int = 0) -> None:
        super().__init__(f)
        self.idx = whole("idx", idx)

    def __call__(self, vectors: Any) -> Any:
        at_most_half(vectors, self.f)
        if self.idx >= len(vectors):
            raise ValueError(f"idx={self.idx} names none of {len(vectors)} vectors")
        return aggregated(vectors, f"monna(trusted={self.idx})", self.f)


class GeometricMedian:
    """T steps of the smoothed Weiszfeld method from zero; distances below `nu` count as `nu`."""

    def __init__(self, nu: float = 0.1, T: int = 3) -> None:
        self.nu = real("nu", nu, TypeError)
        self.T = whole("T", T)

    def __call__(self, vectors: Any) -> Any:
        if self.T == 0:
            return zeros(vectors)
        smoothing = f",smoothing={written(self.nu)}" if self.nu > 0 else ""
        rule = f"geometric_median(iterations={self.T}{smoothing},start=zero)"
        return aggregated(vectors, rule, most_tolerated(vectors))


class CenteredClipping:
    """L steps from the last aggregate m, each by the mean of the differences, clipped at `tau`."""

    def __init__(self, m: Any = None, L: int = 1, tau: float = 100.0) -> None:
        if m is not None and not isinstance(m, np.ndarray) and not is_tensor(m):
            raise TypeError("m must be a np.ndarray or a torch.Tensor")
        self.m = m
        self.L = whole("L", L)
        self.tau = real("tau", tau)
        if self.tau < 0:
            raise ValueError("tau must be at least zero")

    def __call__(self, vectors: Any) -> Any:
        if self.m is None:
            self.m = zeros(vectors)
        if self.L > 0 and self.tau != 0:
            rule = "mean" if self.tau == math.inf else f"centered_clipping(radius={written(self.tau)},iterations={self.L})"
            self.m = aggregated(vectors, rule, most_tolerated(vectors), self.m)
        return self.m
