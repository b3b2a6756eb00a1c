from typing import Any

import numpy as np

__version__: str

class RefusedError(ValueError):
    """The messages of a round do not allow an aggregate; `verdicts` says what became of each worker's."""

    verdicts: list[str]

class DivergedError(RuntimeError):
    """Training left the finite numbers; `round` says when."""

    round: int

class Pipeline:
    def __init__(self, expression: str, tolerance: int, strict: bool, threads: int | None) -> None: ...
    @property
    def needs_center(self) -> bool: ...
    def aggregate(
        self, messages: np.ndarray | list[Any], round: int = 0, center: list[np.ndarray] | None = None, explain: bool = False
    ) -> tuple[np.ndarray, list[str], dict[str, Any] | None]: ...
    def mixed_rows(self, messages: np.ndarray | list[Any], round: int = 0) -> tuple[np.ndarray, list[str]]: ...

class Attack:
    def __init__(self, expression: str) -> None: ...
    def forge(
        self, honest: np.ndarray, own: np.ndarray, *, round: int, seed: int, tolerance: int, pipeline: Pipeline | None
    ) -> np.ndarray: ...

def catalogue() -> str: ...
def names(family_name: str) -> list[str]: ...
def check(family: str, expression: str) -> None: ...
