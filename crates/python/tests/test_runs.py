"""Training from Python: the records of the command line, interruptions, grids."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import byz

QUICK = {"task": "quartic", "attack": "sign_flip", "defense": "nnm+geometric_median", "optimizer": "byz_nsgdm", "rate": 0.1, "rounds": 50, "workers": 20, "byzantine": 3}


def test_a_run_is_a_summary_and_flat_rounds():
    run = byz.run({**QUICK, "defense": byz.pre_aggregators.NearestNeighborMixing() + byz.aggregators.GeometricMedian()})
    assert run.summary["status"] == "finished" and run.summary["rounds"] == 50 and run.directory is None
    assert run.rounds[0]["round"] == 0 and run.rounds[-1]["round"] == 50
    assert {"loss", "rate", "aggregate_norm", "metric", "evaluation_loss"} <= set(run.rounds[-1])
    assert not any(isinstance(value, dict) for value in run.rounds[-1].values())


def test_a_file_and_a_dictionary_give_the_same_run(tmp_path):
    file = tmp_path / "quick.toml"
    file.write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in QUICK.items()))
    assert byz.run(file).rounds == byz.run(QUICK).rounds == byz.run(str(file), threads=1).rounds


def test_a_kept_run_is_not_run_again(tmp_path):
    first = byz.run(QUICK, out=tmp_path / "kept")
    heard = []
    again = byz.run(QUICK, out=tmp_path / "kept", progress=lambda *told: heard.append(told))
    assert again.rounds == first.rounds and not heard and again.directory == tmp_path / "kept"
    with pytest.raises(ValueError, match="holds another run"):
        byz.run({**QUICK, "seed": 1}, out=tmp_path / "kept")


def test_divergence_is_a_status():
    run = byz.run({**QUICK, "optimizer": "baseline", "rate": 1000.0})
    assert run.summary["status"] == "diverged"


@pytest.mark.parametrize(
    "config, error",
    [({"task": "quartic", "rate": float("nan")}, TypeError), ({"task": "quintic"}, ValueError), ({"tsak": "quartic"}, ValueError), (3, TypeError), ("nowhere.toml", OSError), ({"task": object()}, TypeError)],
)
def test_wrong_configurations_say_so(config, error):
    with pytest.raises(error):
        byz.run(config)


def test_numbers_of_numpy_are_numbers_and_none_is_not_given():
    numpy = {**QUICK, "rounds": np.int64(50), "rate": np.float64(0.1), "schedule": None, "strict": np.bool_(False)}
    assert byz.run(numpy).rounds == byz.run(QUICK).rounds


def test_the_last_round_is_always_told():
    heard = []
    byz.run(QUICK, progress=lambda *told: heard.append(told))
    assert heard[-1][:2] == (50, 50)


def test_progress_is_shown_in_a_notebook_and_not_in_a_file(monkeypatch, capsys):
    byz.run(QUICK)
    assert capsys.readouterr().err == ""
    # A notebook's error output is no terminal, but somebody looks at it.
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    byz.run(QUICK)
    shown = capsys.readouterr().err
    assert shown.startswith("\rround ") and f"of {QUICK['rounds']}, loss" in shown


@pytest.mark.parametrize("kind", ["none", "closed", "writes only"])
def test_without_a_usable_stderr_no_progress_is_shown(monkeypatch, capsys, tmp_path, kind):
    closed = open(tmp_path / "log", "w")
    closed.close()
    monkeypatch.setattr(sys, "stderr", {"none": None, "closed": closed, "writes only": type("Log", (), {"write": print})()}[kind])
    assert byz.run(QUICK).rounds and byz.sweep({"base": {**QUICK, "rounds": 2}})
    assert capsys.readouterr().out == ""


def test_what_progress_raises_ends_the_run_and_it_goes_on_later(tmp_path):
    config = {**QUICK, "rounds": 200_000, "evaluate_every": 100_000}

    def stop(done, total, loss, metric):
        assert 0 < done < total == 200_000 and loss > 0
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        byz.run(config, out=tmp_path / "run", progress=stop)
    assert any((tmp_path / "run").glob("checkpoint*"))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_is_a_keyboard_interrupt(tmp_path):
    program = f"import byz; byz.run({ {**QUICK, 'rounds': 10_000_000}!r}, out={str(tmp_path / 'run')!r})"
    told = interrupted(program, lambda: (tmp_path / "run" / "rounds.jsonl").exists())
    assert "KeyboardInterrupt" in told


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_a_sweep_whoever_is_at_work(tmp_path):
    # The first thread is done at once, and the other is at work for minutes.
    base = {name: value for name, value in QUICK.items() if name != "rounds"}
    grid = {"base": base, "axes": {"rounds": [10, 10_000_000]}}
    program = f"import byz; byz.sweep({grid!r}, out={str(tmp_path / 'grid')!r}, jobs=2)"
    told = interrupted(program, lambda: len(list((tmp_path / "grid").glob("runs/*/rounds.jsonl"))) == 2)
    assert "KeyboardInterrupt" in told


def interrupted(program, has_begun):
    """What a program says that gets Ctrl-C once it has begun."""
    # Jobs in the background of a shell are started deaf to it.
    program = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {program}"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    while not has_begun():
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode != 0
    return told


def test_a_sweep_tells_what_a_run_would_warn_of():
    with pytest.warns(UserWarning, match="krum promises robustness only"):
        byz.sweep({"base": {**QUICK, "rounds": 2, "workers": 5, "byzantine": 2, "defense": "krum"}}, progress=False)


def test_a_sweep_is_one_flat_record_per_run(tmp_path):
    grid = {
        "base": {key: value for key, value in QUICK.items() if key not in ("attack", "optimizer")},
        "seeds": [0, 1],
        "axes": {"attack": ["sign_flip", "zero"], "optimizer": ["byz_nsgdm", "baseline_decay"]},
    }
    records = byz.sweep(grid, out=tmp_path / "grid", progress=False)
    assert len(records) == 8 and all(record["status"] == "finished" and record["error"] is None for record in records)
    assert {(record["attack"], record["optimizer"], record["seed"]) for record in records} >= {("zero", "byz_nsgdm", 1)}
    assert byz.rounds(records[0]["directory"])[-1]["round"] == 50
    assert byz.sweep(grid, out=tmp_path / "grid", jobs=1) == records
    assert len(byz.sweep(grid)) == 8 and not Path("sweeps").exists()


def test_an_axis_keeps_its_name_where_a_run_tells_something_of_that_name(tmp_path):
    base = {"task": "quartic", "rounds": 2}
    [diverged, calm] = byz.sweep(
        {"base": {"task": "quartic", "optimizer": "baseline"}, "axes": {"rounds": [500, 3], "error": [{"label": "wild", "rate": 100.0}]}},
        out=tmp_path / "grid",
        progress=False,
    )
    assert (diverged["rounds"], calm["rounds"]) == ("500", "3") and diverged["run_rounds"] < 500 and calm["run_rounds"] == 3
    assert diverged["error"] == calm["error"] == "wild" and calm["run_error"] is None and calm["status"] != "wild"
    assert len(byz.rounds(calm["directory"])) == 4
    for axis in ("loss", "directory", "rate"):
        [record] = byz.sweep({"base": base, "axes": {axis: [{"label": "mine", "rate": 0.3}]}}, out=tmp_path / axis, progress=False)
        assert record[axis] == "mine" and f"run_{axis}" in record and not any(key.startswith("run_") for key in {*record} - {f"run_{axis}"})
