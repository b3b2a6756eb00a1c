"""The tour in examples/python prints what its committed output says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[3] / "examples" / "python" / "tour.py"


@pytest.mark.skipif(not TOUR.exists(), reason="no examples here: run the tests from the repository")
def test_the_tour_prints_its_committed_output():
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run([sys.executable, TOUR], capture_output=True, encoding="utf-8", env=environment, timeout=300)
    assert run.returncode == 0, run.stderr
    printed, committed = run.stdout, TOUR.with_suffix(".txt").read_text(encoding="utf-8")
    if printed.endswith("PyTorch\nis not installed\n"):
        printed, committed = (text.split("PyTorch\n")[0] for text in (printed, committed))
    assert printed == committed
