"""One vector from many: the call, and the object that remembers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, overload

import numpy as np

from ._byz import Pipeline
from .algorithms import Expression
from .arrays import is_tensor
from .containers import OtherLayout, unpack


# The engine counts in 64 bits.
_LIMIT = 1 << 64


class NotGuaranteedWarning(UserWarning):
    """The rule is defined for these numbers of workers and liars, but promises nothing."""


@dataclass(frozen=True)
class Aggregate:
    """An aggregate and how it came about; what ``explain=True`` returns."""

    vector: Any
    """The aggregate, in the container of the messages."""
    verdicts: list[str]
    """Per worker: ``used``, ``missing``, or ``invalid: why``."""
    weights: list[float]
    """Per worker: its effective weight; for rules per coordinate the mean over (a sample of) the coordinates."""
    distances: list[float | None]
    """Per worker: its distance to the aggregate, if it was used."""
    notes: dict[str, Any]
    """What the rule tells about its decision."""
    messages: int
    """Messages that took part."""
    tolerance: int
    """Byzantine workers assumed among them."""
    extra_passes: int
    """Passes over the data taken because distances alone would have cancelled."""


class Defense:
    """A pipeline of pre-aggregators and a rule, for round after round.

    `rule` is an expression such as ``"nnm+geometric_median"`` or an object of `byz.aggregators`; `tolerance` is the number of
    Byzantine workers assumed. With `strict`, counts for which the rule promises nothing are refused instead of warned
    about. `threads` is the number of threads at most, all processors by default; no bit depends on it.

    What a rule remembers is kept here: the last aggregate for centred clipping, the number of the round for rules that draw. While an
    aggregate is remembered, messages must keep their keys and shapes; keys may change their order, and come back in that of the first round.
    """

    def __init__(
        self, rule: str | Expression = "nnm+geometric_median", tolerance: int = 3, *, strict: bool = False, threads: int | None = None
    ) -> None:
        self._settings = (str(rule), count("tolerance", tolerance), strict, at_least_one("threads", threads))
        self._warned: set[str] = set()
        self._pipeline = Pipeline(*self._settings)
        self.reset()

    # Not to be assigned: the engine's pipeline is made with them once.

    @property
    def rule(self) -> str:
        """The expression."""
        return self._settings[0]

    @property
    def tolerance(self) -> int:
        """Byzantine workers assumed."""
        return self._settings[1]

    @property
    def strict(self) -> bool:
        """Whether counts for which the rule promises nothing are refused."""
        return self._settings[2]

    @property
    def threads(self) -> int | None:
        """Threads at most; none for all processors."""
        return self._settings[3]

    def reset(self) -> None:
        """Forgets all rounds."""
        self.round = 0
        self._center: list[np.ndarray] | None = None
        # Which coordinate of the centre is whose; none where those who set the centre see to it.
        self._layout: Any = None

    @overload
    def aggregate(self, vectors: Any, *, explain: Literal[True]) -> Aggregate: ...
    @overload
    def aggregate(self, vectors: Any, *, explain: bool = False) -> Any: ...
    def aggregate(self, vectors: Any, *, explain: bool = False) -> Any:
        """The aggregate of one message per worker, in their container; with `explain` an `Aggregate`."""
        return self._aggregate(vectors, explain)

    def _aggregate(self, vectors: Any, explain: bool) -> Any:
        try:
            messages, form = unpack(vectors, self._layout)
        except OtherLayout as other:
            raise ValueError(f"vectors: {other}, as in the round that {self.rule} remembers; reset() forgets it") from None
        vector, promises, told = self._pipeline.aggregate(messages, self.round, self._center, explain)
        for promise in promises:
            # Once: a round of few numbers takes no longer than a warning.
            if promise not in self._warned:
                # As the caller of `aggregate`, the method or the function.
                warnings.warn(promise, NotGuaranteedWarning, stacklevel=3)
                self._warned.add(promise)
        if self._pipeline.needs_center:
            # The caller may write to what it gets.
            self._center, self._layout = [vector.copy()], form.layout
        self.round += 1
        restored = form.restored(vector)
        return restored if told is None else Aggregate(vector=restored, **told)

    __call__ = aggregate

    def __repr__(self) -> str:
        return f"Defense({self.rule!r}, tolerance={self.tolerance})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pipeline"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pipeline = Pipeline(*self._settings)


@overload
def aggregate(vectors: Any, rule: str | Expression = ..., tolerance: int = ..., *, explain: Literal[True]) -> Aggregate: ...
@overload
def aggregate(vectors: Any, rule: str | Expression = ..., tolerance: int = ..., *, explain: bool = False) -> Any: ...
def aggregate(vectors: Any, rule: str | Expression = "nnm+geometric_median", tolerance: int = 3, *, explain: bool = False) -> Any:
    """The aggregate of one message per worker, up to `tolerance` of which may be anything.

    `vectors` is an array or tensor whose first axis is the worker, or a list with an array, a tensor, a list or mapping of
    them per worker, ``None`` where nothing came. The aggregate is of the same kind, type and device. A message that is not
    finite or of another form is left out with a verdict, and counts as one of the liars. With `explain` the result is an
    `Aggregate`. Raises `RefusedError` where the messages do not allow an aggregate.
    """
    return Defense(rule, tolerance)._aggregate(vectors, explain)


@overload
def mix(vectors: Any, rule: str | Expression, tolerance: int = ..., *, explain: Literal[True]) -> tuple[Any, list[str]]: ...
@overload
def mix(vectors: Any, rule: str | Expression, tolerance: int = ..., *, explain: bool = False) -> Any: ...
def mix(vectors: Any, rule: str | Expression, tolerance: int = 3, *, explain: bool = False) -> Any:
    """What pre-aggregators make of the messages: rows in the container of the messages.

    Messages that are left out have no row, and some pre-aggregators make fewer rows than they get. With `explain` the result is
    the rows and the list of the verdicts on every worker.
    """
    messages, form = unpack(vectors)
    mixed, verdicts = Pipeline(f"{rule}+mean", count("tolerance", tolerance), False, None).mixed_rows(messages)
    rows = form.restored_rows(mixed)
    return (rows, verdicts) if explain else rows


def count(name: str, value: Any) -> int:
    """A parameter that counts, as the engine can hold it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be at least zero, got {value}")
    if value >= _LIMIT:
        raise ValueError(f"{name} must be below 2**64, got {value}")
    return int(value)


def at_least_one(name: str, value: Any) -> int | None:
    """A parameter that counts from one, or is not given."""
    if value is None:
        return None
    if count(name, value) < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)


def number(name: str, value: Any) -> Any:
    """A parameter that measures: a number of Python, NumPy or PyTorch."""
    if isinstance(value, Real) and not isinstance(value, bool) or is_tensor(value) and value.numel() == 1:
        return value
    raise TypeError(f"{name} must be a number, got {value!r}")
