"""The Flower strategies against a grid in memory: quorum, deadline, refusal, metrics.

What is wrong with replies: test_flower_replies.py. With real processes: test_flower_live.py.
"""

import time

import numpy as np
import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
from flower_grid import FakeGrid, GOAL, Raw, as_a_server_app, changed, clients, crash, found, honest, model, run  # noqa: E402, F401
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict  # noqa: E402

from byz.flower import RobustFedAvg  # noqa: E402
from byz.flower import collect as collecting  # noqa: E402

def test_a_round_moves_the_model_by_the_rate_times_the_aggregate():
    result = run(RobustFedAvg("mean", 0, server_rate=0.5), clients(4))
    assert np.allclose(found(result)["weights"], GOAL["weights"] / 4) and found(result)["bias"].dtype == np.float32
    result = run(RobustFedAvg(tolerance=2), clients(7), rounds=12)
    assert np.allclose(found(result)["bias"], GOAL["bias"], rtol=1e-3)


def test_an_error_reply_is_missing_and_does_not_wait_for_the_deadline():
    strategy = RobustFedAvg(tolerance=2, deadline=30)
    before = time.monotonic()
    result = run(strategy, clients(8, _5=crash))
    assert time.monotonic() - before < 5
    assert strategy.reports[0].verdicts[5] == "missing: out of memory"
    metrics = result.train_metrics_clientapp[1]
    assert (metrics["used"], metrics["invalid"], metrics["missing"], metrics["applied"]) == (7, 0, 1, 1)


def test_at_the_deadline_a_round_goes_on_with_the_quorum():
    strategy = RobustFedAvg(tolerance=2, quorum=6, deadline=0.3, fraction_evaluate=0)
    result = run(strategy, clients(7, _7=None), rounds=2)
    assert [report.verdicts[7] for report in strategy.reports] == ["missing: no reply before the deadline"] * 2
    assert all(report.applied for report in strategy.reports)
    assert np.allclose(found(result)["bias"], 0.75 * GOAL["bias"])


def test_with_fewer_than_the_quorum_the_round_is_skipped_and_the_model_stays():
    strategy = RobustFedAvg("mean", 0, quorum=3, deadline=0.3)
    result = run(strategy, clients(4, _1=None, _2=crash))
    report = strategy.reports[0]
    assert not report.applied and "2 replies of 4 nodes asked, fewer than the quorum of 3" in report.note
    assert report.verdicts[3] == "not used" and set(report.weights.values()) == {0.0}
    assert not found(result)["bias"].any()
    assert result.train_metrics_clientapp[1]["applied"] == 0 and result.evaluate_metrics_clientapp == {}


def test_a_refused_round_is_skipped_and_the_next_one_goes_on():
    liars = {f"_{node}": changed(bias=np.full(2, np.nan, np.float32)) for node in (1, 2, 3)}
    strategy = RobustFedAvg(tolerance=2)
    grid = FakeGrid(clients(8, **liars))
    result = strategy.start(grid, model(), num_rounds=1)
    assert "3 invalid replies, more than the tolerance of 2" in strategy.reports[0].note and not found(result)["bias"].any()
    # Four missing of eight: the rule itself refuses, where a lower quorum lets it come to that.
    strategy = RobustFedAvg("krum", tolerance=2, quorum=1, deadline=0.2, fraction_evaluate=0)
    result = run(strategy, clients(8, _1=crash, _2=crash, _3=crash, _4=crash, _5=crash))
    assert not strategy.reports[0].applied and "refused" in strategy.reports[0].note and not found(result)["bias"].any()


def test_rubbish_from_everybody_is_no_exception():
    rubbish = {node: (lambda sent: RecordDict()) for node in range(5)}
    for tolerance in (0, 2):
        strategy = RobustFedAvg("median", tolerance)
        assert not found(run(strategy, rubbish, rounds=2))["bias"].any()
        assert len(strategy.reports) == 2 and strategy.reports[0].count("invalid") == 5


def test_a_step_beyond_finite_numbers_is_not_made():
    strategy = RobustFedAvg("mean", 0, server_rate=1e39)
    result = run(strategy, clients(2))
    assert "smaller rate" in strategy.reports[0].note and not found(result)["bias"].any()
    assert strategy.reports[0].verdicts == {1: "not used", 2: "not used"}


def test_distances_are_those_of_updates():
    start = model()
    start["weights"] = Array(np.full((2, 2), 1e6, np.float32))
    flipped = {f"_{node}": lambda sent: RecordDict({"arrays": ArrayRecord({
        name: Array(array.numpy() - 3 * (GOAL[name] - array.numpy())) for name, array in sent.items()})}) for node in (8, 9)}
    strategy = RobustFedAvg("nnm+krum", tolerance=2)
    run(strategy, clients(9, **flipped), arrays=start)
    assert strategy.reports[0].weights[8] == strategy.reports[0].weights[9] == 0


def test_reported_weights_are_ignored_and_metrics_are_medians():
    liar = lambda sent: honest(sent, **{"num-examples": 10**9, "loss": 1e30, "used": 77, "invented": 1.0})  # noqa: E731
    strange = lambda sent: honest(sent, loss=float("nan"), curve=[1.0, 2.0])  # noqa: E731
    strategy = RobustFedAvg("mean", 0)
    result = run(strategy, clients(5, _1=liar, _2=strange))
    metrics = result.train_metrics_clientapp[1]
    assert metrics["loss"] == 1.0 and metrics["used"] == 5 and "invented" not in metrics and "curve" not in metrics
    assert all(abs(metrics[f"weight/{node}"] - 0.2) < 1e-12 for node in range(1, 6))
    assert result.evaluate_metrics_clientapp[1]["loss"] == 1.0 and result.evaluate_metrics_clientapp[1]["answered"] == 5


def test_an_integer_without_bounds_is_no_metric():
    from byz.flower.metrics import medians

    record = MetricRecord({"loss": 10**400, "size": 3})
    assert medians([RecordDict({"m": record})]) == {"size": 3.0}


def test_integers_and_booleans_of_the_model_stay():
    counters = {"batches": np.array(7, np.int64), "mask": np.array([True, False])}
    strategy = RobustFedAvg("median", 1)
    lying = changed(batches=np.array(3.0))
    keep = {f"_{node}": lambda sent: changed(mask=np.array([False, False]))(sent) for node in (1, 2, 3)}
    result = run(strategy, clients(4, **keep, _4=lying), arrays=model(**counters))
    assert found(result)["batches"] == 7 and found(result)["mask"].tolist() == [True, False]
    assert np.allclose(found(result)["bias"], GOAL["bias"] / 2)
    assert "array 'batches' is 'float64', expected int64" in strategy.reports[0].verdicts[4]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_keep_their_type(dtype):
    start = ArrayRecord({name: Array(np.zeros_like(goal, dtype)) for name, goal in GOAL.items()})
    half = lambda sent: RecordDict(  # noqa: E731
        {"arrays": ArrayRecord({name: Array(((GOAL[name] + array.numpy()) / 2).astype(dtype)) for name, array in sent.items()})}
    )
    result = run(RobustFedAvg("median", 1), {node: half for node in range(4)}, arrays=start)
    assert found(result)["bias"].dtype == dtype and np.allclose(found(result)["bias"], GOAL["bias"] / 2)


@pytest.mark.parametrize(
    "arrays, words",
    [
        (ArrayRecord({"z": Array(np.zeros(2, np.complex64))}), "complex64"),
        (ArrayRecord({"z": Array(np.zeros(2, np.int32))}), "no floats"),
        (ArrayRecord({"z": Array(np.array([np.nan]))}), "finite"),
        (ArrayRecord(), "no floats"),
    ],
)
def test_a_model_that_cannot_be_trained_is_told_at_once(arrays, words):
    with pytest.raises(ValueError, match=words):
        RobustFedAvg("mean", 0).start(FakeGrid(clients(2)), arrays, num_rounds=1)


def test_a_reply_in_anothers_name_and_a_second_one_have_no_effect():
    def forged(question):
        message = Message(changed(bias=np.full(2, 1e3, np.float32))(question.content["arrays"]), reply_to=question)
        message.metadata.__dict__["_src_node_id"] = 2
        return [message]

    def twice(question):
        first = Message(honest(question.content["arrays"]), reply_to=question)
        return [first, Message(RecordDict(), reply_to=question)]

    strategy = RobustFedAvg("median", 1)
    result = run(strategy, clients(5, _1=Raw(forged), _3=Raw(twice)))
    verdicts = strategy.reports[0].verdicts
    assert verdicts[1] == "missing: its reply is in the name of another node" and verdicts[2] == verdicts[3] == "used"
    assert np.allclose(found(result)["bias"], GOAL["bias"] / 2)


def test_replies_given_by_hand_are_counted_once_and_only_from_those_asked():
    strategy = RobustFedAvg("mean", 0)
    grid = FakeGrid(clients(3))
    questions = list(strategy.configure_train(1, model(), ConfigRecord(), grid))
    grid.push_messages(questions)
    replies = [reply for question in questions for reply in grid.replies(question)]
    stranger = Message(honest(model()), reply_to=questions[0])
    stranger.metadata.__dict__["_src_node_id"] = 99
    arrays, metrics = strategy.aggregate_train(1, [*replies, replies[0], stranger])
    assert metrics["used"] == 3 and metrics["ignored"] == 2 and strategy.reports[0].ignored == 2
    assert np.allclose(arrays["bias"].numpy(), GOAL["bias"] / 2)
    with pytest.raises(RuntimeError, match="configure_train first"):
        RobustFedAvg().aggregate_train(1, [])


def test_a_reply_that_flower_cannot_read_is_missing():
    def broken(question):
        raise KeyError("children")

    strategy = RobustFedAvg("median", 1)
    run(strategy, clients(5, _4=Raw(broken)))
    assert strategy.reports[0].verdicts[4].startswith("missing: its reply could not be read (KeyError")


def test_a_link_that_comes_back_costs_nothing():
    import httpx

    calls = []

    def shaky(question):
        calls.append(question)
        if len(calls) == 1:
            raise httpx.ConnectError("down")
        return [Message(honest(question.content["arrays"]), reply_to=question)]

    strategy = RobustFedAvg("median", 1, fraction_evaluate=0)
    run(strategy, clients(5, _4=Raw(shaky)))
    assert strategy.reports[0].count("used") == 5


CALLS = ["get_node_ids", "push_messages", "pull_messages"]


class Down(FakeGrid):
    """A grid of which one call fails, sometimes."""

    def __init__(self, clients, call, fails):
        super().__init__(clients)
        self.failures, works = 0, getattr(self, call)

        def called(*arguments):
            if fails(self):
                self.failures += 1
                raise ConnectionError("the link is down")
            return works(*arguments)

        setattr(self, call, called)


@pytest.mark.parametrize("call", CALLS)
def test_a_link_that_is_down_for_a_moment_costs_nothing(call):
    strategy = RobustFedAvg("median", 1, fraction_evaluate=0)
    grid = Down(clients(5), call, fails=lambda grid: grid.failures == 0)
    result = strategy.start(grid, model(), num_rounds=2)
    assert grid.failures == 1 and [report.count("used") for report in strategy.reports] == [5, 5]
    assert np.allclose(found(result)["bias"], 0.75 * GOAL["bias"])


@pytest.mark.parametrize("call", CALLS)
def test_a_link_that_stays_down_costs_rounds_and_not_the_run(call):
    strategy = RobustFedAvg("median", 1, deadline=0.3, fraction_evaluate=0)
    grid = Down(clients(5), call, fails=lambda grid: len(strategy.reports) > 0)
    before = time.monotonic()
    result = strategy.start(grid, model(), num_rounds=3)
    assert time.monotonic() - before < 10 and grid.failures > 3
    assert [report.applied for report in strategy.reports] == [True, False, False]
    assert "fewer than the quorum" in strategy.reports[2].note and np.allclose(found(result)["bias"], GOAL["bias"] / 2)


def test_a_link_that_was_never_up_is_not_waited_for_without_end():
    strategy = RobustFedAvg("median", 1, deadline=0.2, fraction_evaluate=0)
    result = strategy.start(Down(clients(5), "get_node_ids", fails=lambda grid: True), model(), num_rounds=2)
    assert not found(result)["bias"].any() and len(strategy.reports) == 2


def test_an_upload_that_never_ends_holds_up_nobody(monkeypatch):
    monkeypatch.setattr(collecting, "PATIENCE", 0.05)

    def endless(question):
        time.sleep(60)

    strategy = RobustFedAvg("median", 1, deadline=1.0, fraction_evaluate=0)
    before = time.monotonic()
    run(strategy, clients(5, _1=Raw(endless)))
    assert time.monotonic() - before < 10
    assert strategy.reports[0].verdicts[1] == "missing: no reply before the deadline" and strategy.reports[0].count("used") == 4


def test_messages_that_were_not_pushed_are_missing():
    class Lossy(FakeGrid):
        def push_messages(self, messages):
            return super().push_messages(messages)[1:]

    strategy = RobustFedAvg("median", 1)
    strategy.start(Lossy(clients(5)), model(), num_rounds=1)
    assert strategy.reports[0].verdicts[1].startswith("missing") and strategy.reports[0].count("used") == 4


def test_a_fraction_is_asked_but_never_fewer_than_the_quorum():
    grid = FakeGrid(clients(20))
    RobustFedAvg("median", 2, fraction_train=0.5, fraction_evaluate=0.1, seed=1).start(grid, model(), num_rounds=3)
    assert [len(nodes) for nodes in grid.asked] == [10, 5] * 3
    assert grid.asked[0] != grid.asked[2] and all(nodes == sorted(set(nodes)) for nodes in grid.asked)
    again = FakeGrid(clients(20))
    RobustFedAvg("median", 2, fraction_train=0.5, fraction_evaluate=0.1, seed=1).start(again, model(), num_rounds=3)
    assert grid.asked == again.asked
    silent = FakeGrid(clients(20))
    result = RobustFedAvg("median", 2, fraction_train=0, fraction_evaluate=0).start(silent, model())
    assert silent.asked == [] and result.train_metrics_clientapp == {}


def test_nodes_that_leave_during_a_run_do_not_stop_it():
    nodes = clients(6)

    class Leaving(FakeGrid):
        def get_node_ids(self):
            return [node for node in nodes if len(self.asked) < 1 or node > 4]

    strategy = RobustFedAvg("median", 1, min_available_nodes=6, deadline=0.2, fraction_evaluate=0)
    result = strategy.start(Leaving(nodes), model(), num_rounds=2)
    assert [report.applied for report in strategy.reports] == [True, False]
    assert np.allclose(found(result)["bias"], GOAL["bias"] / 2)


def test_a_node_that_is_gone_for_good_costs_no_deadline():
    nodes = clients(6)

    class Leaving(FakeGrid):
        def get_node_ids(self):
            return [node for node in nodes if not self.asked or node > 1]

    strategy = RobustFedAvg("median", 1, min_available_nodes=6, deadline=600, fraction_evaluate=0)
    before = time.monotonic()
    strategy.start(Leaving(nodes), model(), num_rounds=3)
    assert time.monotonic() - before < 60 and [len(report.verdicts) for report in strategy.reports] == [6, 5, 5]


def test_the_timeout_of_a_start_shortens_every_wait():
    nodes = clients(7)

    class Leaving(FakeGrid):
        def get_node_ids(self):
            if len(self.asked) == 2:
                raise OSError("no route to host")
            return [node for node in nodes if not self.asked or node > 5]

    strategy = RobustFedAvg("median", 2, deadline=600, fraction_evaluate=0)
    grid, before = Leaving(nodes), time.monotonic()
    strategy.start(grid, model(), num_rounds=3, timeout=0.5)
    assert time.monotonic() - before < 60 and [report.applied for report in strategy.reports] == [True, False, False]
    assert all(question.metadata.ttl < 100 for question in grid.questions.values())
    # It is that of one start only.
    strategy.start(grid := FakeGrid(nodes), model(), num_rounds=1)
    assert all(question.metadata.ttl == 660 for question in grid.questions.values())
    for wrong in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="timeout must be above zero"):
            run(strategy, nodes, timeout=wrong)


def test_the_first_round_waits_for_nodes(monkeypatch):
    from byz.flower import strategy as module

    waited = []
    monkeypatch.setattr(module.time, "sleep", waited.append)

    class Slow(FakeGrid):
        def get_node_ids(self):
            return list(self.clients)[: len(waited)]

    strategy = RobustFedAvg("median", 1, min_available_nodes=4, deadline=0.001, fraction_evaluate=0)
    strategy.start(Slow(clients(5)), model(), num_rounds=1)
    assert waited[:4] == [1.0] * 4 and len(strategy.reports[0].verdicts) == 4


def test_the_config_reaches_the_clients_with_the_round_and_is_left_alone():
    config = ConfigRecord({"lr": 0.1})
    grid = FakeGrid(clients(3))
    RobustFedAvg("mean", 0).start(grid, model(), num_rounds=2, train_config=config)
    sent = [dict(question.content["config"]) for question in grid.questions.values() if question.metadata.message_type == "train"]
    assert sent == [{"lr": 0.1, "server-round": 1}] * 3 + [{"lr": 0.1, "server-round": 2}] * 3 and dict(config) == {"lr": 0.1}


def test_the_server_evaluates_where_it_can():
    seen = []

    def evaluate(server_round, arrays):
        seen.append(arrays["bias"].numpy()[0])
        return MetricRecord({"error": float(5 - seen[-1])}) if server_round else None

    result = run(RobustFedAvg("mean", 0), clients(2), rounds=2, evaluate_fn=evaluate)
    assert seen == [0, 2.5, 3.75] and {k: dict(v) for k, v in result.evaluate_metrics_serverapp.items()} == {1: {"error": 2.5}, 2: {"error": 1.25}}
