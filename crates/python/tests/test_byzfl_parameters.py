"""Parameters and imports of ByzFL's classes: what may be given, assigned later, and imported from where."""

import importlib

import numpy as np
import pytest

import byz.compat.byzfl as ours

torch = pytest.importorskip("torch", reason="torch is not installed")
theirs = pytest.importorskip("byzfl", reason="byzfl is not installed")

VECTORS = np.random.default_rng(3).normal(size=(9, 5))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, float, int])
@pytest.mark.parametrize(
    "name, parameter",
    [
        ("GeometricMedian", "nu"),
        ("CenteredClipping", "tau"),
        ("Clipping", "c"),
        ("InnerProductManipulation", "tau"),
        ("ALittleIsEnough", "tau"),
        ("Gaussian", "sigma"),
        ("Optimal_ALittleIsEnough", "start"),
        ("Optimal_InnerProductManipulation", "delta"),
    ],
)
def test_numbers_assigned_after_construction_are_numbers(name, parameter, kind):
    found = []
    for value in (2.0, kind(2)):
        np.random.seed(0)
        made = getattr(ours, name)()
        setattr(made, parameter, value)
        found.append(made(VECTORS))
    assert np.array_equal(*found)


@pytest.mark.parametrize("wrong", ["x", 0.0, [0.0] * 5])
def test_a_centre_that_is_no_array_is_told_at_construction(wrong):
    for library in (theirs, ours):
        with pytest.raises(TypeError, match="m must be"):
            library.CenteredClipping(m=wrong)
    for centre in (VECTORS[0], torch.from_numpy(VECTORS[0])):
        # ByzFL's check lets none pass.
        assert np.allclose(ours.CenteredClipping(m=centre, tau=1e9)(VECTORS), VECTORS.mean(axis=0))


@pytest.mark.parametrize("module", ["", ".aggregators", ".aggregators.aggregators", ".aggregators.preaggregators", ".attacks", ".attacks.attacks"])
def test_classes_are_imported_from_where_they_are_in_byzfl(module):
    found, expected = [importlib.import_module(f"{library}{module}") for library in ("byz.compat.byzfl", "byzfl")]
    # Some modules there show names of others too.
    names = [name for name in ours.__all__ if getattr(expected, name, int).__module__.startswith(expected.__name__)]
    assert len(names) >= 4 and all(getattr(found, name) is getattr(ours, name) for name in names)
