"""Values of an independent implementation."""

import warnings

import numpy as np
import pytest

import byz

EXPRESSIONS = {
    "mean": "mean",
    "median": "median",
    "trimmed_mean": "trimmed_mean",
    "meamed": "mean_around_median",
    "krum": "krum",
    "multi_krum": "multi_krum(select={m})",
    "mda": "minimum_diameter_averaging",
    "geometric_median": "geometric_median",
    "smoothed_weiszfeld": "geometric_median(iterations={T},smoothing={nu},start=zero)",
}


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, "tol64"), (np.float32, "tol32")])
def test_golden_values(golden, dtype, tolerance):
    checked = 0
    for case in golden["cases"]:
        if case["op"] not in EXPRESSIONS or (dtype is np.float32 and not case["f32_ok"]):
            continue
        if case["extra"].get("unique") is False:
            continue
        rule = EXPRESSIONS[case["op"]].format(**case["params"])
        rows = np.array(case["input"], dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", byz.NotGuaranteedWarning)
            found = byz.aggregate(rows, rule, case["params"].get("f", 0))
        # The nearest float32 is right where they lie farther apart than the tolerance.
        expected = np.array(case["expected"])
        smallest = float(np.finfo(dtype).smallest_subnormal)
        assert np.abs(found - expected).max() <= max(case[tolerance], smallest), (case["id"], rule)
        checked += 1
    assert checked > 30


def test_nearest_neighbour_mixing(golden):
    for case in golden["cases"]:
        if case["op"] == "nnm":
            mixed = byz.mix(np.array(case["input"]), "nnm", case["params"]["f"])
            assert np.abs(mixed - np.array(case["expected"])).max() <= case["tol64"], case["id"]
