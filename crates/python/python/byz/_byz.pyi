from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__version__: str

class RefusedError(ValueError):
    """The messages of a round do not allow an aggregate; `verdicts` says what became of each worker's."""

    verdicts: list[str]

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

Watched = Callable[[int, int, float, float | None], None]

def run(
    config: str, directory: Path, *, is_json: bool, threads: int | None, data: Path | None, progress: Watched
) -> tuple[str, list[str]]: ...
def sweep(
    grid: str, directory: Path, *, name: str, is_json: bool, jobs: int | None, data: Path | None, progress: Watched
) -> str: ...
def catalogue() -> str: ...
def names(family_name: str) -> list[str]: ...
def check(family: str, expression: str) -> None: ...
