"""Byz-NSGDM over Flower: momentum per node, a robust aggregate, a step of fixed length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import Expression
from ..defense import number
from ..steps import read_schedule
from .strategy import RobustStrategy

NORMS = ("l2", "linf")
PLACES = ("server", "client")


class _Momentum(NamedTuple):
    vector: np.ndarray
    updates: int


class ByzNSGDM(RobustStrategy):
    """model ← model + `rate` · schedule · aggregate of the momenta, made of length one.

    With `momentum_at` ``"server"`` the server keeps the momentum (1−β)·Σ βⁱ·update of every connected node, β being `momentum`, and
    aggregates the momenta over 1−βᵏ after k updates: where all nodes have sent as many, that is the momentum up to a factor that the
    step takes out, and a node that came late or is not asked every round is not taken for a liar because it is short. With
    ``"client"`` the clients keep it, and what they send is aggregated as it comes.

    `norm` is ``"l2"`` (the aggregate over its length) or ``"linf"`` (its signs). `schedule` is ``"inverse_sqrt"``, ``"constant"`` or a
    function of the number of the step, from 1; a skipped round is no step. The other parameters are those of `RobustStrategy`.
    """

    def __init__(
        self,
        rule: str | Expression = "nnm+geometric_median",
        tolerance: int = 3,
        *,
        rate: float = 0.1,
        momentum: float = 0.9,
        momentum_at: str = "server",
        schedule: str | Callable[[int], float] = "inverse_sqrt",
        norm: str = "l2",
        **settings: Any,
    ) -> None:
        if not number("rate", rate) > 0:
            raise ValueError(f"rate must be above zero, got {rate}")
        if not 0 <= number("momentum", momentum) < 1:
            raise ValueError(f"momentum must be at least zero and below one, got {momentum}")
        if momentum_at not in PLACES:
            raise ValueError(f"momentum_at: expected one of {', '.join(PLACES)}, got {momentum_at!r}")
        if norm not in NORMS:
            raise ValueError(f"norm: expected one of {', '.join(NORMS)}, got {norm!r}")
        super().__init__(rule, tolerance, **settings)
        self.rate = rate
        self.momentum = momentum
        self.momentum_at = momentum_at
        self.schedule = read_schedule(schedule)
        self.norm = norm
        self.steps = 0
        self._momenta: dict[int, _Momentum] = {}
        self._next: dict[int, _Momentum] = {}

    def _begin(self) -> None:
        super()._begin()
        self.steps, self._momenta, self._next = 0, {}, {}

    def _messages(self, updates: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        if self.momentum_at == "client":
            return updates
        # Kept apart until the step is made: a refused round leaves everything as it was.
        self._next = {node: self._momentum_after(node, update) for node, update in updates.items()}
        return {node: kept.vector / (1 - self.momentum**kept.updates) for node, kept in self._next.items()}

    def _momentum_after(self, node: int, update: np.ndarray) -> _Momentum:
        before = self._momenta.get(node)
        if before is None:
            return _Momentum((1 - self.momentum) * update, 1)
        return _Momentum(self.momentum * before.vector + (1 - self.momentum) * update, before.updates + 1)

    def _step(self, aggregate: np.ndarray) -> np.ndarray:
        factor = self.rate * self.schedule(self.steps + 1)
        return factor * (np.sign(aggregate) if self.norm == "linf" else _normalized(aggregate))

    def _applied(self) -> None:
        self.steps += 1
        # Those who left are forgotten: who comes and goes under new names must not fill the memory.
        momenta = {**self._momenta, **self._next}
        self._momenta = {node: momentum for node, momentum in momenta.items() if node in self._connected}


def _normalized(vector: np.ndarray) -> np.ndarray:
    """Of length one; zero stays zero. The largest entry is taken out first, so that no square overflows or vanishes."""
    largest = np.abs(vector).max()
    if largest == 0:
        return vector
    vector = vector / largest
    return vector / np.sqrt(np.sum(np.square(vector, dtype=np.float64)))
