"""What liars send, given what the honest workers send."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _byz
from .algorithms import Expression
from .containers import unpack, widened
from .defense import Defense


class Attack:
    """An attack and what it remembers from round to round.

    >>> import numpy as np, byz
    >>> byz.Attack("inner_product(scale=2)").forge(np.array([[1.0, 2.0], [3.0, 2.0]]), byzantine=1)
    array([[-4., -4.]])
    """

    def __init__(self, attack: str | Expression, *, seed: int = 0) -> None:
        self.attack = str(attack)
        self.seed = seed
        self.round = 0
        self._forger = _byz.Attack(self.attack)

    def forge(self, honest: Any, byzantine: int = 1, *, own: Any = None, defense: Defense | None = None) -> Any:
        """One forged row per Byzantine worker, as an array (a tensor if `honest` is one).

        `honest` holds the honest workers' vectors, `own` what the Byzantine ones would send if they were honest (the honest mean, if
        not given), `defense` the defence for attacks that look at it.
        """
        messages, restore = unpack(honest)
        rows = _matrix(messages)
        if own is None:
            mean = rows.mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(rows.shape[1])
            own_rows = np.repeat(mean.astype(rows.dtype)[None], byzantine, axis=0)
        else:
            own_rows = _matrix(unpack(own)[0])
            if own_rows.shape != (byzantine, rows.shape[1]):
                raise ValueError(f"own: expected {byzantine} rows of {rows.shape[1]} numbers, got shape {own_rows.shape}")
        self.round += 1
        forged = self._forger.forge(
            rows,
            own_rows,
            round=self.round,
            seed=self.seed,
            tolerance=byzantine if defense is None else defense.tolerance,
            pipeline=None if defense is None else defense._pipeline,
        )
        return restore(forged)

    def __repr__(self) -> str:
        return f"Attack({self.attack!r})"


def _matrix(messages: np.ndarray | list[Any]) -> np.ndarray:
    """Vectors of one length as rows."""
    if isinstance(messages, np.ndarray):
        return widened(messages)
    wrong = [message for message in messages if not isinstance(message, list)]
    if wrong:
        raise ValueError(f"vectors must be of one form: {wrong[0] or 'one is missing'}")
    return np.stack([np.concatenate([widened(part).reshape(-1) for part in parts]) for parts in messages])
