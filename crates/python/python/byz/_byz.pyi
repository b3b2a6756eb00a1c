from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

__all__ = ["Attack", "MOST_WORKERS", "Pipeline", "RefusedError", "__version__", "catalogue", "check", "names", "run", "sweep"]

_Progress: TypeAlias = Callable[[int, int, float, float | None], None]

MOST_WORKERS: int
__version__: str

class RefusedError(ValueError):
    """The messages of a round do not allow an aggregate; `verdicts` says what became of each worker's."""

    verdicts: list[str]

@final
class Pipeline:
    def __new__(cls, expression: str, tolerance: int, strict: bool, threads: int | None) -> Pipeline: ...
    @property
    def needs_center(self) -> bool: ...
    def aggregate(
        self, messages: np.ndarray | list[Any], round: int = 0, center: list[np.ndarray] | None = None, explain: bool = False
    ) -> tuple[np.ndarray, list[str], dict[str, Any] | None]: ...
    def mixed_rows(self, messages: np.ndarray | list[Any], round: int = 0) -> tuple[np.ndarray, list[str]]: ...

@final
class Attack:
    def __new__(cls, expression: str) -> Attack: ...
    def state(self) -> tuple[list[list[float]], list[list[float]]]: ...
    def restore(self, single: list[list[float]], double: list[list[float]]) -> None: ...
    def forge(
        self, honest: np.ndarray, own: np.ndarray, *, round: int, seed: int, tolerance: int, pipeline: Pipeline | None
    ) -> np.ndarray: ...

def run(
    config: str, directory: Path, *, is_json: bool, threads: int | None, data: Path | None, progress: _Progress
) -> tuple[str, list[str]]: ...
def sweep(
    grid: str, directory: Path, *, name: str, is_json: bool, jobs: int | None, data: Path | None, progress: _Progress
) -> tuple[str, list[str]]: ...
def catalogue() -> str: ...
def names(family_name: str) -> list[str]: ...
def check(family: str, expression: str) -> None: ...
