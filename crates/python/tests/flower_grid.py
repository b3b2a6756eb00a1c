"""A grid of Flower in memory: clients as functions, for the tests of the strategies."""

import numpy as np
import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord, RecordDict  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

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
