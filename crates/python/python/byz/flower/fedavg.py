"""Federated averaging with a robust aggregate in the place of the average."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms import Expression
from .strategy import RobustStrategy


class RobustFedAvg(RobustStrategy):
    """model ← model + `server_rate` · aggregate of the clients' updates.

    `rule` with `tolerance` is what `byz.Defense` takes. The other parameters are those of `RobustStrategy`.
    """

    def __init__(
        self, rule: str | Expression = "nnm+geometric_median", tolerance: int = 3, *, server_rate: float = 1.0, **settings: Any
    ) -> None:
        if not server_rate > 0:
            raise ValueError(f"server_rate must be above zero, got {server_rate}")
        super().__init__(rule, tolerance, **settings)
        self.server_rate = server_rate

    def _step(self, aggregate: np.ndarray) -> np.ndarray:
        return self.server_rate * aggregate
