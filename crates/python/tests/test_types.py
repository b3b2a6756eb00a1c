"""What type checkers hear of the package: results have the type that the flags ask for, and the stubs are true."""

import subprocess
import sys

import pytest

from byz.algorithms import FAMILIES

pytest.importorskip("mypy", reason="mypy is not installed")

# PyTorch and Flower take a minute to check.
CONFIGURATION = """
[mypy]
strict = True
[mypy-torch.*,flwr.*,byzfl.*]
follow_imports = skip
ignore_missing_imports = True
"""

USE = """
from typing import Any
import numpy as np, byz
from byz.torch import per_worker_gradients
rows, defense = np.ones((5, 3)), byz.Defense("median", 1)
told = byz.aggregate(rows, "median", 1, explain=True)
told.weigths  # wrong
told.shape  # wrong
defense(rows, explain=True).weigths  # wrong
defense.aggregate(rows, explain=True).weigths  # wrong
print(told.weights, told.vector.shape, defense(rows).shape, byz.aggregate(rows).shape)
mixed, verdicts = byz.mix(rows, "nnm", explain=True)
verdicts.shape  # wrong
print(mixed.shape, byz.mix(rows, "nnm").shape)

def gradients(model: Any, loss: Any, batches: Any, flag: bool) -> None:
    print(per_worker_gradients(model, loss, batches).shape)
    per_worker_gradients(model, loss, batches, with_losses=True).shape  # wrong
    print(byz.aggregate(rows, explain=flag), byz.mix(rows, "nnm", explain=flag))
"""


def run(module, *arguments, at):
    (at / "mypy.ini").write_text(CONFIGURATION)
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=at, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_results_have_the_type_that_the_flags_ask_for(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    told = run("mypy", "--config-file", "mypy.ini", "use.py", at=tmp_path).splitlines()
    found = {int(line.split(":")[1]) for line in told if line.startswith("use.py:") and "[attr-defined]" in line}
    assert found == {number for number, line in enumerate(USE.splitlines(), 1) if line.endswith("# wrong")}, told


def test_the_stubs_are_true_of_what_they_describe(tmp_path):
    modules = [f"byz.{name}" for name in ("_byz", *FAMILIES)]
    told = run("mypy.stubtest", "--mypy-config-file", "mypy.ini", *modules, at=tmp_path)
    assert "Success: no issues found in 8 modules" in told, told
