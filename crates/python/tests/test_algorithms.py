"""The classes follow the engine's tables, and so do the stubs beside them."""

import ast
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import byz
from byz import stubs
from byz.algorithms import FAMILIES, class_name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_algorithm_has_its_class(family):
    module = getattr(byz, family)
    for item in byz.describe(family):
        made = getattr(module, class_name(item["name"]))
        assert issubclass(made, getattr(module, FAMILIES[family])) and made.name == item["name"]
        assert item["summary"][1:] in inspect.getdoc(made)
        assert list(inspect.signature(made).parameters) == [one["name"] for one in item["parameters"]]
        one = made()
        assert str(one) == item["name"] and pickle.loads(pickle.dumps(one)) == one


def test_names_are_those_of_the_tables():
    assert byz.names("aggregator") == byz.names("aggregators") and "krum" in byz.names("aggregator")
    with pytest.raises(ValueError, match="no family is called 'rules'"):
        byz.names("rules")


def test_objects_are_their_expressions(rows):
    rule = byz.pre_aggregators.NearestNeighborMixing() + byz.aggregators.GeometricMedian(iterations=8, smoothing=0.1)
    assert str(rule) == "nearest_neighbor_mixing+geometric_median(iterations=8,smoothing=0.1)"
    assert (byz.aggregate(rows, rule) == byz.aggregate(rows, str(rule))).all()
    assert repr(byz.aggregators.Krum(power=4)) == "Krum(power=4)"
    worst = byz.attacks.WorstOf(attacks=[byz.attacks.SignFlip(), byz.attacks.LittleIsEnough(z=1.5)])
    assert str(worst) == "worst_of(attacks=[sign_flip,little_is_enough(z=1.5)])"


def test_parameters_are_checked_when_they_are_given():
    with pytest.raises(ValueError, match="did you mean 'power'"):
        byz.aggregators.Krum(powr=4)
    with pytest.raises(ValueError, match="expected one of 1, 2, 4"):
        byz.aggregators.Krum(power=3)


def test_what_they_have_in_common_is_no_algorithm():
    with pytest.raises(TypeError, match="choose one of byz.aggregators, byz.pre_aggregators"):
        byz.Algorithm()
    with pytest.raises(TypeError, match="choose one of byz.attacks$"):
        byz.attacks.Attack()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_stubs_say_what_the_tables_say(family):
    stub = Path(byz.__file__).with_name(f"{family}.pyi")
    assert stub.read_text() == stubs.written(family), "run: python -m byz.stubs"
    ast.parse(stub.read_text())


def test_numbers_and_truths_of_python_are_those_of_expressions():
    assert str(byz.aggregators.GeometricMedian(smoothing=np.float32(0.5), iterations=np.int64(8))) == "geometric_median(smoothing=0.5,iterations=8)"
    for true in (True, np.bool_(True)):
        assert str(byz.partitions.SortedByLabel(pad=true)) == "sorted_by_label(pad=true)"
        assert byz.Defense("median", 1, strict=true).strict
    assert str(byz.attacks.None_()) == "none" and "power=2" in str(inspect.signature(byz.aggregators.Krum))
