"""ByzFL's attacks: from the honest vectors, the one that every liar sends."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....algorithms import written
from ....attack import Attack, check_byzantine
from ..aggregators import Average, Clipping
from ..vectors import real, stacked, whole

__all__ = [
    "ALittleIsEnough",
    "Gaussian",
    "Inf",
    "InnerProductManipulation",
    "LabelFlipping",
    "Mimic",
    "Optimal_ALittleIsEnough",
    "Optimal_InnerProductManipulation",
    "SignFlipping",
]


def _forged(attack: str, honest_vectors: Any) -> Any:
    return Attack(attack).forge(stacked(honest_vectors), 1)[0]


class SignFlipping:
    """Minus the honest mean."""

    def __call__(self, honest_vectors: Any) -> Any:
        return _forged("sign_flip(of=mean)", honest_vectors)


class InnerProductManipulation:
    """Minus `tau` times the honest mean."""

    def __init__(self, tau: float = 2.0) -> None:
        self.tau = real("tau", tau, TypeError)

    def __call__(self, honest_vectors: Any) -> Any:
        if not math.isfinite(self.tau):
            return self.tau * SignFlipping()(honest_vectors)
        return _forged(f"inner_product(scale={written(self.tau)})", honest_vectors)


class ALittleIsEnough:
    """The honest mean plus `tau` standard deviations."""

    def __init__(self, tau: float = 1.5) -> None:
        self.tau = real("tau", tau, TypeError)

    def __call__(self, honest_vectors: Any) -> Any:
        return _forged(f"little_is_enough(z={written(self.tau)})", honest_vectors)


class _LineSearched:
    """The `tau` of an attack that moves a defence farthest from the honest mean, by ByzFL's search: steps that double while
    they pay, then shrink by `ratio`, `evals` looks in all."""

    attack: Callable[[float], Any]

    def __init__(
        self,
        agg: Any = None,
        pre_agg_list: Sequence[Any] | None = None,
        f: int = 1,
        evals: int = 20,
        start: float = 0.0,
        delta: float = 10.0,
        ratio: float = 0.8,
    ) -> None:
        self.agg = Average() if agg is None else agg
        self.pre_agg_list = [Clipping()] if pre_agg_list is None else pre_agg_list
        self.f = whole("f", f)
        self.evals = whole("evals", evals, least=1)
        self.start = real("start", start)
        self.delta = real("delta", delta)
        self.ratio = real("ratio", ratio)
        if self.delta == 0:
            raise ValueError("delta must not be zero")
        if not 0.5 < self.ratio < 1:
            raise ValueError("ratio must lie between 0.5 and 1")

    def __call__(self, honest_vectors: Any) -> Any:
        honest = stacked(honest_vectors)
        check_byzantine("f", self.f, len(honest))
        mean = honest.mean(axis=0)
        best = float(self.start)
        damage = self._damage(honest, mean, best)
        step, growing = float(self.delta), True
        for _ in range(self.evals - 1):
            reached = self._damage(honest, mean, best + step)
            pays = reached > damage
            if pays:
                best, damage = best + step, reached
            growing = growing and pays
            step *= 2 if growing else self.ratio
        return type(self).attack(best)(honest)

    def _damage(self, honest: Any, mean: Any, tau: float) -> float:
        forged = type(self).attack(tau)(honest)
        vectors = _with_copies(honest, forged, self.f)
        for step in self.pre_agg_list:
            vectors = step(vectors)
        return float(((self.agg(vectors) - mean) ** 2).sum()) ** 0.5


def _with_copies(honest: Any, forged: Any, count: int) -> Any:
    if isinstance(honest, np.ndarray):
        return np.concatenate([honest, np.repeat(forged[None], count, axis=0)])
    return sys.modules["torch"].cat([honest, forged.expand(count, *forged.shape)])


class Optimal_InnerProductManipulation(_LineSearched):  # noqa: N801 (ByzFL's name)
    """Inner product manipulation with the most damaging `tau`."""

    attack = InnerProductManipulation


class Optimal_ALittleIsEnough(_LineSearched):  # noqa: N801 (ByzFL's name)
    """A little is enough with the most damaging `tau`."""

    attack = ALittleIsEnough


class Mimic:
    """What the honest worker `epsilon` sends."""

    def __init__(self, epsilon: int = 0) -> None:
        self.epsilon = whole("epsilon", epsilon)

    def __call__(self, honest_vectors: Any) -> Any:
        if self.epsilon >= len(honest_vectors):
            raise ValueError(f"epsilon={self.epsilon} names none of {len(honest_vectors)} honest vectors")
        return honest_vectors[self.epsilon]


class Inf:
    """Infinity in every coordinate, in float64."""

    def __call__(self, honest_vectors: Any) -> Any:
        first = stacked(honest_vectors)[0]
        if isinstance(first, (np.ndarray, np.generic)):
            return np.full(first.shape, np.inf)
        torch = sys.modules["torch"]
        return torch.full_like(first, float("inf"), dtype=torch.float64)


class Gaussian:
    """Gaussian noise, drawn as ByzFL draws it, from NumPy's or PyTorch's global generator."""

    def __init__(self, mu: float = 0.0, sigma: float = 1.0) -> None:
        self.mu = real("mu", mu, TypeError)
        self.sigma = real("sigma", sigma)
        if self.sigma < 0:
            raise ValueError("sigma must be at least zero")

    def __call__(self, honest_vectors: Any) -> Any:
        honest = stacked(honest_vectors)
        if isinstance(honest, np.ndarray):
            return np.random.normal(self.mu, self.sigma, honest.shape[1])
        return sys.modules["torch"].randn(honest.shape[1]) * self.sigma + self.mu


class LabelFlipping:
    """The mean of gradients that were computed on flipped labels."""

    def __call__(self, vectors: Any) -> Any:
        return Average()(vectors)
