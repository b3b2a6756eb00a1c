"""The bits of Python are those of the command `byz aggregate`. Both must be built from the same source."""

import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import byz

RULES = [
    "mean",
    "median",
    "trimmed_mean",
    "mean_around_median",
    "krum",
    "multi_krum",
    "geometric_median",
    "centered_clipping(radius=0.5)",
    "caf",
    "nnm+geometric_median",
    "nnm+trimmed_mean",
    "bucketing(size=2)+median",
    "adaptive_clipping+krum",
]


@pytest.fixture(scope="module")
def binary():
    named = os.environ.get("BYZ_BINARY")
    path = Path(named) if named else Path(__file__).parents[3] / "target" / "release" / "byz"
    if not path.is_file():
        pytest.skip(f"no command at {path}: run cargo build --release, or set BYZ_BINARY")
    return path


@pytest.mark.parametrize("size", [10, 5003])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES)
def test_the_command_gives_the_same_bits(binary, tmp_path, rule, dtype, size):
    random = np.random.default_rng(size)
    rows = (random.normal(size=size) + 0.3 * random.normal(size=(20, size))).astype(dtype)
    rows[17], rows[18], rows[19, 3] = -3 * rows[0], 1e9, np.nan
    np.save(tmp_path / "rows.npy", rows)
    command = [binary, "aggregate", "--rule", rule, "--tolerance", "3", "--output", tmp_path / "vector.npy", tmp_path / "rows.npy"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", byz.NotGuaranteedWarning)
        found = byz.aggregate(rows, rule, 3)
    expected = np.load(tmp_path / "vector.npy")
    assert found.dtype == expected.dtype == dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
