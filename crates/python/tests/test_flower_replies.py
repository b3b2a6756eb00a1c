"""Every way to reply wrongly costs its sender its say, and nobody else anything."""

import numpy as np
import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
from flower_grid import GOAL, as_a_server_app, changed, clients, found, honest, model, run  # noqa: E402, F401
from flwr.app import Array, ArrayRecord, MetricRecord, RecordDict  # noqa: E402

from byz.flower import RobustFedAvg  # noqa: E402

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
