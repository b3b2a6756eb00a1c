"""What liars send, given what the honest workers send."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _byz
from .algorithms import Expression
from .arrays import widened
from .containers import OtherLayout, unpack
from .defense import Defense, count


class Attack:
    """An attack and what it remembers from round to round; a copy, and what was pickled, remembers it too.

    >>> import numpy as np, byz
    >>> byz.Attack("inner_product(scale=2)").forge(np.array([[1.0, 2.0], [3.0, 2.0]]), byzantine=1)
    array([[-4., -4.]])
    """

    def __init__(self, attack: str | Expression, *, seed: int = 0) -> None:
        self.attack = str(attack)
        self.seed = count("seed", seed)
        self.round = 0
        self._forger = _byz.Attack(self.attack)

    def forge(self, honest: Any, byzantine: int = 1, *, own: Any = None, defense: Defense | None = None) -> Any:
        """One forged row per Byzantine worker, in the container of `honest`: an array or tensor of rows, or a list of messages.

        `honest` holds the honest workers' vectors, `own` what the Byzantine ones would send if they were honest (the honest mean, if
        not given; keys and shapes are those of `honest`), `defense` the defence for attacks that look at it.
        """
        byzantine = count("byzantine", byzantine)
        if defense is not None and not isinstance(defense, Defense):
            raise TypeError(f"defense: expected a byz.Defense, as byz.Defense('median', tolerance=3) is, got {defense!r}")
        messages, form = unpack(honest)
        if len(messages) == 0:
            raise ValueError("honest: expected the vector of one honest worker at least, got none")
        check_byzantine("byzantine", byzantine, len(messages))
        rows = _matrix("honest", messages)
        shape = (byzantine, rows.shape[1])
        if own is None:
            # NumPy adds in the order in which numbers lie in memory.
            mean = np.require(rows, requirements="CA").mean(axis=0, dtype=np.float64)
            own_rows = np.broadcast_to(mean.astype(rows.dtype), shape)
        else:
            try:
                own_messages = unpack(own, form.layout)[0]
            except OtherLayout as other:
                raise ValueError(f"own: {other}, as in honest") from None
            own_rows = _matrix("own", own_messages) if len(own_messages) else np.empty((0, shape[1]))
            if own_rows.shape != shape:
                raise ValueError(f"own: expected {byzantine} rows of {rows.shape[1]} numbers, got shape {own_rows.shape}")
        forged = self._forger.forge(
            rows,
            own_rows,
            round=self.round + 1,
            seed=self.seed,
            tolerance=byzantine if defense is None else defense.tolerance,
            pipeline=None if defense is None else defense._pipeline,
        )
        self.round += 1
        # Where there is no number, the engine does not know how many rows of how many there were.
        return form.restored_rows(forged.reshape(shape))

    def __repr__(self) -> str:
        return f"Attack({self.attack!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_forger": self._forger.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forger = _byz.Attack(self.attack)
        self._forger.restore(*state["_forger"])


def check_byzantine(name: str, byzantine: int, honest: int) -> None:
    """Refuses more rows than a defence would take, before there is memory for them."""
    if honest + byzantine > _byz.MOST_WORKERS:
        raise ValueError(f"{name}={byzantine} with {honest} honest workers are more than {_byz.MOST_WORKERS} in all")


def _matrix(name: str, messages: np.ndarray | list[Any]) -> np.ndarray:
    """Vectors of one form as rows. What a diverged worker sends is told, not forged from: all that comes of it is NaN."""
    rows = widened(messages) if isinstance(messages, np.ndarray) else _joined(name, messages)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(f"{name}: vectors must be finite, and vector {int(finite.argmin())} is not")
    return rows


def _joined(name: str, messages: list[Any]) -> np.ndarray:
    for message in messages:
        if message is None or isinstance(message, str):
            raise ValueError(f"{name}: vectors must be of one form: {message or 'one is missing'}")
    parts = [message if isinstance(message, list) else [message] for message in messages]
    return np.stack([np.concatenate([widened(part).reshape(-1) for part in each]) for each in parts])
