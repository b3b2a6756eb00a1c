"""The factor of a step by its number, from 1, for the optimisers that are made here; functions with names, which can be pickled."""

from __future__ import annotations

from collections.abc import Callable


def _constant(step: int) -> float:
    return 1.0


def _inverse_sqrt(step: int) -> float:
    return step**-0.5


_SCHEDULES: dict[str, Callable[[int], float]] = {"constant": _constant, "inverse_sqrt": _inverse_sqrt}


def read_schedule(schedule: str | Callable[[int], float]) -> Callable[[int], float]:
    """The schedule of this name, or the function itself."""
    if callable(schedule):
        return schedule
    if schedule not in _SCHEDULES:
        raise ValueError(f"schedule: expected a function or one of {', '.join(_SCHEDULES)}, got {schedule!r}")
    return _SCHEDULES[schedule]
