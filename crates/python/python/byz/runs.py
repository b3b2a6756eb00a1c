"""Training with the engine, from Python: one run or a grid of them, as records ready for a table."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from . import _byz
from .algorithms import Expression
from .defense import at_least_one

Progress = Callable[[int, int, float, "float | None"], None]


@dataclass(frozen=True)
class Run:
    """A finished run."""

    summary: dict[str, Any]
    """How it ended: ``status``, ``metric``, ``loss`` and more. A run that diverged says so here."""
    rounds: list[dict[str, Any]]
    """A flat record per round; `pandas.DataFrame(run.rounds)` is a table."""
    directory: Path | None
    """Where it is kept, if it is."""


def run(
    config: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
) -> Run:
    """Trains once.

    `config` is the path of a TOML file or a dictionary with the same keys, those of ``byz run``. With `out` the run is kept there, and the
    same call goes on after an interruption. `progress` is a function of (round, rounds, loss, metric), or whether to show a line
    on a terminal or in a notebook.

    >>> import byz
    >>> byz.run({"task": "quartic", "rounds": 100}, progress=False).summary["status"]
    'finished'
    """
    text, is_json, _ = _read(config)
    with _Directory(out) as directory, _shown(progress) as watched:
        told, concerns = _byz.run(
            text, directory, is_json=is_json, threads=at_least_one("threads", threads), data=_path(data_dir), progress=watched
        )
        for concern in concerns:
            warnings.warn(concern, stacklevel=2)
        return Run(json.loads(told), rounds(directory), None if out is None else directory)


def sweep(
    config: Mapping[str, Any] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
) -> list[dict[str, Any]]:
    """Runs a grid, tuning included: one flat record per run, with its labels, seed, rate and summary.

    `config` is the path of a TOML file or a dictionary with the same keys, those of ``byz sweep``. With `out` the runs are kept there,
    finished ones are skipped, and ``directory`` of a record tells where its rounds are (`byz.rounds`). A run that failed has
    ``error``; the others go on. Labels are texts. Where an axis has the name of something that a run tells, as ``rounds`` has, the name is
    the axis's, and what the run tells is under ``run_rounds``.
    """
    text, is_json, name = _read(config)
    with _Directory(out) as directory, _shown(progress) as watched:
        told, concerns = _byz.sweep(
            text, directory, name=name, is_json=is_json, jobs=at_least_one("jobs", jobs), data=_path(data_dir), progress=watched
        )
        for concern in concerns:
            warnings.warn(concern, stacklevel=2)
        records = []
        for one in json.loads(told):
            outcome = {"seed": one["seed"], "rate": one["rate"], **(one["summary"] or {}), "error": one["error"]}
            if out is not None:
                outcome["directory"] = str(directory / "runs" / one["key"])
            labels = one["labels"]
            renamed = {f"run_{key}" if key in labels else key: value for key, value in outcome.items()}
            # Labels first, and not to be overwritten.
            records.append({**labels, **renamed, **labels})
        return records


def rounds(directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The flat records of a run that is kept: what each round and each evaluation told."""
    records = []
    with open(Path(directory) / "rounds.jsonl", encoding="utf-8") as lines:
        for line in lines:
            told = json.loads(line)
            evaluation = {f"evaluation_{name}" if name == "loss" else name: value for name, value in told.get("evaluation", {}).items()}
            records.append({"round": told["round"], **told.get("training", {}), **evaluation})
    return records


def _read(config: Any) -> tuple[str, bool, str]:
    """The text of a configuration, whether it is JSON, and its name."""
    if isinstance(config, Mapping):
        return json.dumps(_plain(config)), True, "sweep"
    if isinstance(config, (str, os.PathLike)):
        return Path(config).read_text(encoding="utf-8"), False, Path(config).stem
    raise TypeError(f"config: expected a dictionary or the path of a TOML file, got {type(config).__name__}")


def _plain(value: Any) -> Any:
    """A configuration as JSON has it: NumPy's numbers are numbers, and what is None is not given."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, (np.ndarray, np.bool_)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(one) for one in value]
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise TypeError(f"config: {value!r} is no finite number, text, list, dictionary or algorithm")


class _Directory:
    """The directory asked for, or one that is gone afterwards."""

    def __init__(self, out: str | os.PathLike[str] | None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="byz-") if out is None else None
        self._path = Path(self._temporary.name) / "run" if self._temporary else Path(out)  # type: ignore[arg-type]

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *_: object) -> None:
        if self._temporary:
            self._temporary.cleanup()


class _shown:  # noqa: N801 (reads as a verb where it is used)
    """A function that hears of progress; by default a line that is written over, where someone may look at it."""

    def __init__(self, progress: bool | Progress) -> None:
        self._progress = progress
        self._width = 0

    def __enter__(self) -> Progress:
        if callable(self._progress):
            return self._progress
        return self._show if self._progress and _is_looked_at(sys.stderr) else lambda *_: None

    def _show(self, done: int, total: int, loss: float, metric: float | None) -> None:
        line = f"round {done} of {total}, loss {loss:.5g}" + (f", metric {metric:.5g}" if metric is not None else "")
        self._width = max(self._width, len(line))
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


def _is_looked_at(stream: Any) -> bool:
    if stream is None:
        # A program without a console.
        return False
    try:
        return "ipykernel" in sys.modules or stream.isatty()
    except (AttributeError, ValueError):
        # Something of the user's that takes text and no more, or a file that is closed.
        return False


def _path(path: str | os.PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
