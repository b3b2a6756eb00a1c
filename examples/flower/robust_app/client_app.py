"""A client: trains on its partition and, if the run says so, misbehaves."""

import numpy as np
from flwr.app import Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from robust_app.task import EXAMPLES, accuracy, record, trained

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """The model after local training, or what this client sends in its place."""
    partition = int(context.node_config["partition-id"])
    before = model_in(message)
    after = trained(*before, partition)
    kind = misbehaviour(str(context.run_config["misbehave"]), partition)
    if kind:
        print(f"node {context.node_id}, partition {partition}: {kind}", flush=True)
        after = worsened(kind, before, after)
    # Clients may report what they like: the server uses medians, and no count of examples.
    metrics = MetricRecord({"accuracy": accuracy(*after, partition) if kind is None else 1.0, "num-examples": EXAMPLES})
    return Message(RecordDict({"arrays": record(*after), "metrics": metrics}), reply_to=message)


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """The accuracy on this client's points."""
    told = accuracy(*model_in(message), int(context.node_config["partition-id"]))
    return Message(RecordDict({"metrics": MetricRecord({"accuracy": told})}), reply_to=message)


def model_in(message: Message) -> tuple[np.ndarray, np.ndarray]:
    """The model that the server sent."""
    arrays = message.content["arrays"]
    return arrays["weights"].numpy(), arrays["bias"].numpy()


def misbehaviour(config: str, partition: int) -> str | None:
    """How a partition misbehaves; `config` is text such as ``0:nan 3:crash``."""
    return dict(entry.split(":") for entry in config.split()).get(str(partition))


def worsened(kind: str, before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """What is sent in the place of a trained model."""
    if kind == "nan":
        return tuple(array * np.float32("nan") for array in after)
    if kind == "wrong-shape":
        return tuple(array[:-1] for array in after)
    if kind == "sign-flip":
        return tuple(old - 10 * (new - old) for old, new in zip(before, after, strict=True))
    if kind == "crash":
        raise RuntimeError("this client crashes on purpose")
    raise ValueError(f"misbehave: expected nan, wrong-shape, crash or sign-flip, got {kind!r}")
