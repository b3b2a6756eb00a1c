# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Schedule",
    "Constant",
    "InverseSqrt",
    "Theory",
    "Doubling",
]

class Schedule(Algorithm):
    """One of `byz.schedules`."""

class Constant(Schedule):
    """The same rate in every round.

    Parameters:
        warmup: rounds over which the rate rises linearly to its full value; a whole number [0]

    Reference: folklore."""

    def __init__(self, *, warmup: int = ...) -> None: ...

class InverseSqrt(Schedule):
    """The rate over the square root of the round.

    Parameters:
        warmup: rounds over which the rate rises linearly to its full value; a whole number [0]

    Reference: the experiments of Byz-NSGDM."""

    def __init__(self, *, warmup: int = ...) -> None: ...

class Theory(Schedule):
    """The theorem's constant rate and momentum for a known number of rounds.

    Parameters:
        moment: moment p of the noise that is finite, 1 < p <= 2; a finite number above zero [2]
        warmup: rounds over which the rate rises linearly to its full value; a whole number [0]

    Reference: Byz-NSGDM, Theorem 1."""

    def __init__(self, *, moment: float = ..., warmup: int = ...) -> None: ...

class Doubling(Schedule):
    """Stages that double in length, each with the theorem's rate and momentum for its length.

    Parameters:
        first: rounds of the first stage; a whole number of at least 1 [1]
        momentum: what becomes of momentum when a stage begins; one of keep, reset [keep]
        moment: moment p of the noise that is finite, 1 < p <= 2; a finite number above zero [2]
        warmup: rounds over which the rate rises linearly to its full value; a whole number [0]

    Reference: Hazan, Introduction to online convex optimization, 2016."""

    def __init__(self, *, first: int = ..., momentum: str | int | bool = ..., moment: float = ..., warmup: int = ...) -> None: ...
