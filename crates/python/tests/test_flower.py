"""The Flower strategies against a grid in memory: every way to reply wrongly, quorum, deadline, momentum, refusal.

With real processes: test_flower_live.py.
"""

import time

import numpy as np
import pytest

flwr = pytest.importorskip("flwr", reason="flwr is not installed")
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

from byz.flower import ByzNSGDM, RobustFedAvg  # noqa: E402
from byz.flower import collect as collecting  # noqa: E402

GOAL = {"weights": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "bias": np.array([5.0, 6.0], np.float32)}


@pytest.fixture(autouse=True)
def as_a_server_app(monkeypatch):
    """Messages are made in the name of the task that makes them."""
    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def model(**more):
    arrays = {name: np.zeros_like(goal) for name, goal in GOAL.items()}
    return ArrayRecord({name: Array(array) for name, array in {**arrays, **more}.items()})


def honest(arrays, **metrics):
    """Half the way to the goal; integers are counted up."""
    moved = {}
    for name, array in arrays.items():
        old = array.numpy()
        moved[name] = Array(np.asarray(old + (GOAL[name] - old) / 2 if name in GOAL else old + 1))
    return RecordDict({"arrays": ArrayRecord(moved), "metrics": MetricRecord({"loss": 1.0, "num-examples": 10, **metrics})})


def changed(**arrays):
    """A client that is honest but for these arrays."""

    def reply(sent):
        content = honest(sent)
        for name, array in arrays.items():
            content["arrays"][name] = array if isinstance(array, Array) else Array(array)
        return content

    return reply


class FakeGrid:
    """Clients as functions of the model; ``None`` never replies, an exception is an error reply, a `Message` maker is taken as it is."""

    def __init__(self, clients):
        self.clients = clients
        self.questions = {}
        self.asked = []

    def get_node_ids(self):
        return list(self.clients)

    def push_messages(self, messages):
        for message in messages:
            message.metadata.__dict__["_message_id"] = f"question-{len(self.questions)}"
            self.questions[message.metadata.message_id] = message
        self.asked.append([message.metadata.dst_node_id for message in messages])
        return [message.metadata.message_id for message in messages]

    def pull_messages(self, message_ids):
        return [reply for message_id in message_ids for reply in self.replies(self.questions[message_id])]

    def replies(self, question):
        client = self.clients[question.metadata.dst_node_id]
        if client is None:
            return []
        if isinstance(client, Raw):
            return client.replies(question)
        try:
            content = client(question.content["arrays"])
        except Exception as problem:
            return [Message(Error(2, f"Traceback\n{problem}"), reply_to=question)]
        return [Message(content, reply_to=question)]


class Raw:
    """A client that decides on the messages themselves."""

    def __init__(self, replies):
        self.replies = replies


def clients(count, **odd):
    """Honest nodes 1, 2, …, of which some are odd: ``_3=…`` is node 3."""
    return {node: odd.get(f"_{node}", honest) for node in range(1, count + 1)}


def run(strategy, nodes, rounds=1, arrays=None, **more):
    return strategy.start(FakeGrid(nodes), arrays or model(), num_rounds=rounds, **more)


def found(result):
    return {name: array.numpy() for name, array in result.arrays.items()}


def crash(sent):
    raise RuntimeError("out of memory")


def test_a_round_moves_the_model_by_the_rate_times_the_aggregate():
    result = run(RobustFedAvg("mean", 0, server_rate=0.5), clients(4))
    assert np.allclose(found(result)["weights"], GOAL["weights"] / 4) and found(result)["bias"].dtype == np.float32
    result = run(RobustFedAvg(tolerance=2), clients(7), rounds=12)
    assert np.allclose(found(result)["bias"], GOAL["bias"], rtol=1e-3)


def npy(array, **fields):
    """An array as Flower declares it, but for these fields."""
    made = Array(np.asarray(array, np.float32))
    return Array(**{"dtype": made.dtype, "shape": made.shape, "stype": made.stype, "data": made.data, **fields})


def with_header(header, numbers=b"\0" * 8):
    """A bias whose header is this text."""
    text = header.encode().ljust(117) + b"\n"
    return npy([0.0, 0.0], data=b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + numbers)


GOOD_HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
OBJECTS = np.array([1.0, 2.0], dtype=object)

WRONG = {
    "no array record": (lambda sent: RecordDict({"metrics": MetricRecord({"loss": 1.0})}), "expected one ArrayRecord, got 0"),
    "two array records": (lambda sent: RecordDict({"a": honest(sent)["arrays"], "b": honest(sent)["arrays"]}), "got 2"),
    "an empty reply": (lambda sent: RecordDict(), "got 0"),
    "an array too few": (lambda sent: RecordDict({"arrays": ArrayRecord({"bias": Array(GOAL["bias"])})}), "1 missing, 0 unknown"),
    "an array too many": (changed(more=np.zeros(2)), "0 missing, 1 unknown ('more')"),
    "another name": (lambda sent: RecordDict({"arrays": ArrayRecord({"b\n": Array(GOAL["bias"])})}), "2 missing, 1 unknown"),
    "another shape": (changed(bias=np.zeros(3, np.float32)), "shape (3,), expected (2,)"),
    "more axes": (changed(bias=np.zeros((2, 1), np.float32)), "shape (2, 1), expected (2,)"),
    "another type": (changed(bias=np.zeros(2)), "is 'float64', expected float32"),
    "complex numbers": (changed(bias=np.zeros(2, np.complex64)), "is 'complex64', expected float32"),
    "integers": (changed(bias=np.zeros(2, np.int32)), "is 'int32', expected float32"),
    "the other byte order": (changed(bias=np.zeros(2, ">f4")), "is '>f4', expected float32"),
    "another serialisation": (changed(bias=npy([0, 0], stype="pickle")), "serialised as 'pickle'"),
    "too few bytes": (changed(bias=npy([0, 0], data=b"abc")), "3 bytes, expected 8 and a header"),
    "too many bytes": (changed(bias=npy([0, 0], data=b"\0" * 10**6)), "1000000 bytes, expected 8"),
    "an archive": (changed(bias=npy([0, 0], data=b"PK\x03\x04" + b"\0" * 130)), "no NumPy header"),
    "another format": (changed(bias=npy([0, 0], data=b"\x93NUMPY\x02" + b"\0" * 130)), "no NumPy header"),
    "a header of rubbish": (changed(bias=with_header("(((((((((((")), "no NumPy header"),
    "a header of another shape": (changed(bias=with_header(GOOD_HEADER.replace("(2,)", "(1,)"))), "not what it was declared"),
    "a header of another type": (changed(bias=with_header(GOOD_HEADER.replace("<f4", "<i4"))), "not what it was declared"),
    "a header of objects": (changed(bias=with_header(GOOD_HEADER.replace("<f4", "|O"))), "not what it was declared"),
    "a huge shape in the header": (changed(bias=with_header(GOOD_HEADER.replace("(2,)", "(9999999999,)"))), "not what it was declared"),
    "numbers cut short": (changed(bias=with_header(GOOD_HEADER, b"\0" * 5)), "not what it was declared"),
    "NaN": (changed(bias=np.array([0, np.nan], np.float32)), "array 'bias' has NaN"),
    "infinity": (changed(weights=np.full((2, 2), -np.inf, np.float32)), "array 'weights' has an infinity"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_reply_costs_its_sender_its_say_and_nothing_else(kind):
    reply, reason = WRONG[kind]
    strategy = RobustFedAvg("nnm+geometric_median", tolerance=2)
    result = run(strategy, clients(8, _3=reply))
    report = strategy.reports[0]
    assert report.verdicts[3].startswith("invalid: ") and reason in report.verdicts[3]
    assert report.weights[3] == 0 and report.applied and report.count("used") == 7
    assert report.verdicts[3].isprintable() and len(report.verdicts[3]) < 200
    assert np.allclose(found(result)["bias"], GOAL["bias"] / 2)


def test_a_header_like_numpys_is_read():
    strategy = RobustFedAvg("mean", 0)
    run(strategy, clients(2, _1=changed(bias=with_header(GOOD_HEADER))))
    assert strategy.reports[0].verdicts[1] == "used"


def test_a_model_in_fortran_order_is_read_in_its_order():
    matrix = np.asfortranarray(np.arange(4, dtype=np.float32).reshape(2, 2))
    result = run(RobustFedAvg("mean", 0), clients(2, _1=changed(weights=matrix), _2=changed(weights=matrix)))
    assert np.array_equal(found(result)["weights"], matrix)


def test_values_too_far_from_the_model_are_invalid_and_not_infinite():
    far = np.full(2, np.finfo(np.float32).max, np.float32)
    start = model()
    start["bias"] = Array(-far)
    strategy = RobustFedAvg("median", 1)
    result = run(strategy, clients(5, _2=changed(bias=far)), arrays=start)
    assert "too far from the model" in strategy.reports[0].verdicts[2]
    assert np.isfinite(found(result)["bias"]).all()


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


def flat(arrays):
    return np.concatenate([arrays[name].numpy().reshape(-1) for name in GOAL])


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("place", ["server", "client"])
def test_byz_nsgdm_is_the_plain_loop(norm, place):
    random = np.random.default_rng(3)
    noise = {node: random.normal(size=(5, 6)).astype(np.float32) for node in range(1, 6)}

    def client(node):
        rounds = iter(noise[node])
        return lambda sent: RecordDict({"arrays": unflat(flat(sent) + next(rounds))})

    def unflat(vector):
        return ArrayRecord({"weights": Array(vector[:4].reshape(2, 2)), "bias": Array(vector[4:])})

    strategy = ByzNSGDM("median", 1, rate=0.3, momentum=0.8, momentum_at=place, norm=norm, fraction_evaluate=0)
    result = run(strategy, {node: client(node) for node in noise}, rounds=5)
    momenta, plain = np.zeros((5, 6)), np.zeros(6)
    for k in range(1, 6):
        updates = np.stack([noise[node][k - 1] for node in noise])
        momenta = 0.8 * momenta + 0.2 * updates if place == "server" else updates
        middle = np.median(momenta, axis=0)
        plain += 0.3 / k**0.5 * (np.sign(middle) if norm == "linf" else middle / np.linalg.norm(middle))
    assert np.allclose(flat(result.arrays), plain, atol=1e-4)


def test_momentum_is_kept_per_node_through_bad_rounds_and_forgotten_with_the_node():
    nodes = clients(5)
    nodes[1] = crash
    grid = FakeGrid(nodes)
    strategy = ByzNSGDM("median", 1, momentum=0.5, deadline=0.2, fraction_evaluate=0)
    strategy.start(grid, model(), num_rounds=2)
    assert set(strategy._momenta) == {2, 3, 4, 5} and strategy._momenta[2].updates == 2 and strategy.steps == 2
    before = dict(strategy._momenta)
    grid.clients.update({2: crash, 3: crash, 4: crash})  # Fewer than the quorum: nothing changes.
    questions = strategy.configure_train(3, model(), ConfigRecord(), grid)
    arrays, _ = strategy.aggregate_train(3, collecting.collect(grid, questions, 0.2))
    assert arrays is None and strategy._momenta == before and strategy.steps == 2
    grid.clients = clients(6)
    del grid.clients[2]
    questions = strategy.configure_train(4, model(), ConfigRecord(), grid)
    strategy.aggregate_train(4, collecting.collect(grid, questions, 0.2))
    assert {node: kept.updates for node, kept in strategy._momenta.items()} == {1: 1, 3: 3, 4: 3, 5: 3, 6: 1}


def test_a_zero_aggregate_is_no_step_and_no_nan():
    still = {node: lambda sent: RecordDict({"arrays": ArrayRecord(dict(sent))}) for node in range(3)}
    for norm in ("l2", "linf"):
        assert not found(run(ByzNSGDM("median", 1, norm=norm), still))["bias"].any()


def test_a_second_run_starts_from_scratch():
    strategy = ByzNSGDM("median", 1, fraction_evaluate=0)
    first, second = (found(run(strategy, clients(4), rounds=2)) for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first) and len(strategy.reports) == 2


@pytest.mark.parametrize(
    "kind, wrong",
    [
        (RobustFedAvg, {"server_rate": 0.0}),
        (RobustFedAvg, {"tolerance": -1}),
        (RobustFedAvg, {"rule": "nonsense"}),
        (RobustFedAvg, {"fraction_train": 1.5}),
        (RobustFedAvg, {"quorum": 0}),
        (RobustFedAvg, {"deadline": 0}),
        (RobustFedAvg, {"min_available_nodes": 0}),
        (ByzNSGDM, {"rate": -1.0}),
        (ByzNSGDM, {"momentum": 1.0}),
        (ByzNSGDM, {"momentum_at": "home"}),
        (ByzNSGDM, {"schedule": "linear"}),
        (ByzNSGDM, {"norm": "l3"}),
    ],
)
def test_wrong_settings_are_value_errors(kind, wrong):
    with pytest.raises(ValueError):
        kind(**wrong)
    with pytest.raises(TypeError, match="fraction_trian"):
        kind(fraction_trian=1.0)
