"""What the tests share: rows that look like a round, and golden values where they are at hand."""

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rows():
    """Twenty messages of a round in float32, the last three of them liars'."""
    random = np.random.default_rng(7)
    common = random.normal(size=50)
    rows = (common + 0.3 * random.normal(size=(20, 50))).astype(np.float32)
    rows[17:] = -common
    return rows


@pytest.fixture(scope="session")
def golden():
    """Values of an independent implementation; they lie with the engine's tests."""
    directory = Path(__file__).parents[2] / "byz" / "tests" / "suite" / "golden"
    files = sorted(directory.glob("*.json"))
    if not files:
        pytest.skip("no golden values here: run the tests from the repository")
    return json.loads(files[0].read_text())
