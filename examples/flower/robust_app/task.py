"""Softmax regression on clouds of points, one cloud per class: learned in a few rounds, made without a download."""

import numpy as np
from flwr.app import Array, ArrayRecord

CLASSES, FEATURES, EXAMPLES, NOISE = 5, 20, 500, 1.5
LOCAL_STEPS, LOCAL_RATE = 5, 0.1
# No client has a partition of this number: the server tests with its points.
TEST = 10_000


def points(partition: int) -> tuple[np.ndarray, np.ndarray]:
    """The examples of a partition and their classes; every partition draws its own from the same clouds."""
    centers = np.random.default_rng(0).normal(size=(CLASSES, FEATURES))
    random = np.random.default_rng([1, partition])
    labels = random.integers(CLASSES, size=EXAMPLES)
    return (centers[labels] + NOISE * random.normal(size=(EXAMPLES, FEATURES))).astype(np.float32), labels


def initial() -> ArrayRecord:
    """The model before the first round."""
    return record(np.zeros((FEATURES, CLASSES), np.float32), np.zeros(CLASSES, np.float32))


def record(weights: np.ndarray, bias: np.ndarray) -> ArrayRecord:
    """The model as Flower sends it."""
    return ArrayRecord({"weights": Array(weights), "bias": Array(bias)})


def trained(weights: np.ndarray, bias: np.ndarray, partition: int) -> tuple[np.ndarray, np.ndarray]:
    """The model after some steps of gradient descent on the points of a partition."""
    inputs, labels = points(partition)
    wanted = np.eye(CLASSES, dtype=np.float32)[labels]
    for _ in range(LOCAL_STEPS):
        scores = inputs @ weights + bias
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = (likely / likely.sum(axis=1, keepdims=True) - wanted) / EXAMPLES
        weights = weights - LOCAL_RATE * inputs.T @ error
        bias = bias - LOCAL_RATE * error.sum(axis=0)
    return weights, bias


def accuracy(weights: np.ndarray, bias: np.ndarray, partition: int) -> float:
    """The share of the points of a partition that the model puts into their class."""
    inputs, labels = points(partition)
    return float(np.mean((inputs @ weights + bias).argmax(axis=1) == labels))
