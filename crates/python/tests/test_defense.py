"""Rules, verdicts, what is remembered, and what is refused."""

import os
import pickle
import threading
import time

import numpy as np
import pytest

import byz


def test_liars_do_not_move_it_far(rows):
    honest = rows[:17].mean(axis=0)
    for huge in (1e30, -3e38, np.nan, np.inf):
        attacked = rows.copy()
        attacked[17:] = huge
        assert np.linalg.norm(byz.aggregate(attacked) - honest) < 2.0
    told = byz.aggregate(attacked, explain=True)
    assert told.verdicts[17] == "invalid: inf at coordinate 0" and told.weights[17] == 0.0 and told.distances[17] is None


def test_numbers_whose_squares_cannot_be_added_are_as_bad_as_infinity():
    rows = np.ones((5, 2))
    rows[4] = 1.7e146
    assert byz.aggregate(rows, "median", 1, explain=True).verdicts[4] == "used"
    rows[4] = 1.9e146
    assert "is out of range" in byz.aggregate(rows, "median", 1, explain=True).verdicts[4]


def test_too_many_liars_are_refused_with_verdicts(rows):
    rows[:4] = np.nan
    with pytest.raises(byz.RefusedError, match="more than the tolerance of 3") as refused:
        byz.aggregate(rows)
    assert refused.value.verdicts[:5] == ["invalid: NaN at coordinate 0"] * 4 + ["used"]
    assert isinstance(refused.value, ValueError)


def test_what_is_not_promised_is_warned_about_or_refused(rows):
    with pytest.warns(byz.NotGuaranteedWarning, match="mean promises robustness only for f = 0"):
        byz.aggregate(rows, "mean")
    with pytest.raises(byz.RefusedError):
        byz.Defense("mean", 3, strict=True)(rows)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="did you mean 'krum'"):
        byz.Defense("kurm")
    with pytest.raises(ValueError, match="krum has no parameter 'powr'"):
        byz.Defense("krum(powr=2)")
    with pytest.raises(TypeError, match="tolerance"):
        byz.Defense("krum", 2.0)
    with pytest.raises(ValueError, match="at least zero"):
        byz.Defense("krum", -1)
    with pytest.raises(ValueError, match="threads"):
        byz.Defense("krum", 1, threads=0)


@pytest.mark.parametrize("wrong", [True, "x", 2.0])
def test_threads_that_are_no_number_are_told_as_by_runs(wrong):
    for call in (lambda: byz.Defense("krum", 1, threads=wrong), lambda: byz.run({"task": "quartic", "rounds": 1}, threads=wrong)):
        with pytest.raises(TypeError, match=f"threads must be a whole number, got {wrong!r}"):
            call()


@pytest.mark.parametrize("name", ["rule", "tolerance", "strict", "threads"])
def test_what_the_pipeline_is_made_of_cannot_be_assigned(name):
    defense = pickle.loads(pickle.dumps(byz.Defense("krum", 2, strict=True, threads=3)))
    assert (defense.rule, defense.tolerance, defense.strict, defense.threads) == ("krum", 2, True, 3)
    with pytest.raises(AttributeError):
        setattr(defense, name, 1)


def test_no_bit_depends_on_the_threads():
    rows = np.random.default_rng(0).normal(size=(20, 100_001)).astype(np.float32)
    for rule in ("nnm+geometric_median", "median", "krum", "nnm+trimmed_mean"):
        first, *others = [byz.Defense(rule, 3, threads=threads)(rows) for threads in (1, 2, 3, None)]
        assert all(np.array_equal(first, other) for other in others)


def test_centred_clipping_remembers_the_last_aggregate(rows):
    defense = byz.Defense("centered_clipping(radius=0.1)", 1)
    first, second = defense(rows), defense(rows)
    assert not np.array_equal(first, second)
    copy = pickle.loads(pickle.dumps(defense))
    assert np.array_equal(copy(rows), defense(rows))
    first[:] = np.nan  # The caller's, not ours.
    defense.reset()
    assert np.isfinite(defense(rows)).all() and defense.round == 1


def test_buckets_are_drawn_anew_each_round(rows):
    defense = byz.Defense("bucketing(size=2)+median", 3)
    first, second = defense(rows), defense(rows)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, byz.aggregate(rows, "bucketing(size=2)+median", 3))


def test_other_threads_of_python_go_on_meanwhile():
    rows = np.random.default_rng(0).normal(size=(30, 400_000))
    done, ticks = threading.Event(), 0

    def work():
        for _ in range(3):
            byz.Defense("nnm+geometric_median", 5, threads=1)(rows)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 5  # With the lock held throughout, one call at most would let us in once each.


def test_many_threads_may_share_a_defense(rows):
    defense = byz.Defense("nnm+geometric_median", 3)
    expected, found = byz.aggregate(rows), []
    workers = [threading.Thread(target=lambda: found.extend(defense(rows) for _ in range(50))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 200 and all(np.array_equal(one, expected) for one in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_aggregates_too():
    rows = np.random.default_rng(0).normal(size=(20, 100_000)).astype(np.float32)
    expected = byz.Defense("nnm+geometric_median", 3, threads=2)(rows)
    child = os.fork()
    if child == 0:
        same = np.array_equal(byz.Defense("nnm+geometric_median", 3, threads=2)(rows), expected)
        os._exit(0 if same else 1)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_mixing_alone(rows):
    mixed, verdicts = byz.mix(rows.astype(np.float64), "nnm", 3, explain=True)
    distances = np.linalg.norm(rows[:, None].astype(float) - rows[None], axis=2)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :17]
    assert np.allclose(mixed, rows.astype(float)[nearest].mean(axis=1), atol=1e-12)
    assert verdicts == ["used"] * 20
