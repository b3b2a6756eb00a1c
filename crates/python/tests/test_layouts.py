"""What is remembered belongs to keys, not to places: state dicts whose keys change their order between calls."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import byz

RULE = "centered_clipping(radius=1,iterations=1)"


@pytest.fixture
def states():
    """The same messages with their keys in two orders; values so far apart that a mistaken centre shows."""
    random = np.random.default_rng(0)
    weights, biases = random.normal(size=(11, 3)) + 10, random.normal(size=(11, 3)) - 10
    first = [{"w": weight, "in": {"b": bias, "c": -bias}} for weight, bias in zip(weights, biases, strict=True)]
    return first, [OrderedDict([("in", {"c": one["in"]["c"], "b": one["in"]["b"]}), ("w", one["w"])]) for one in first]


def same(found, expected):
    return np.array_equal(found["w"], expected["w"]) and all(np.array_equal(found["in"][key], expected["in"][key]) for key in "bc")


@pytest.mark.parametrize("share", [11, 6])
def test_a_centre_finds_its_keys_in_another_order(states, share):
    first, turned = states
    plain, mixed = byz.Defense(RULE, 1), byz.Defense(RULE, 1)
    for round in range(6):
        expected = plain(first)
        found = mixed([*turned[:share], *first[share:]] if round % 2 else first)
        assert same(found, expected), round
        mixed = (mixed, copy.deepcopy(mixed), pickle.loads(pickle.dumps(mixed)))[round % 3]
    # The containers are those of this round, the order is that of the first.
    assert type(found) is OrderedDict and list(found) == ["w", "in"] and list(found["in"]) == ["b", "c"]


def test_messages_unlike_the_centre_are_refused_and_nothing_is_forgotten(states):
    first, turned = states
    defense, twin = byz.Defense(RULE, 1), byz.Defense(RULE, 1)
    defense(first), twin(first)
    others = {
        "expected keys 'w', 'in'": [{"x": one["w"], "in": one["in"]} for one in first],
        r"entry \['in'\]\['c'\]: shape \(1, 3\), expected shape \(3,\)": [
            {"w": one["w"], "in": {"b": one["in"]["b"], "c": one["in"]["c"][None]}} for one in first
        ],
        r"shape \(9,\), expected keys": np.ones((11, 9)),
        "a list of 3": [[one["w"], one["in"]["b"], one["in"]["c"]] for one in first],
    }
    for why, messages in others.items():
        with pytest.raises(ValueError, match=f"vectors: .*{why}.*reset"):
            defense(messages)
    with pytest.raises(byz.RefusedError, match="no valid message"):
        defense([None] * 11)
    assert defense.round == 1 and same(defense(turned), twin(first))
    defense.reset()
    assert defense(np.ones((11, 9))).shape == (9,)


def test_one_worker_of_other_keys_is_a_verdict_as_in_the_first_round(states):
    first, turned = states
    defense = byz.Defense(RULE, 1)
    defense(first)
    told = defense.aggregate([{"x": np.ones(9)}, *turned[1:]], explain=True)
    assert told.verdicts == ["invalid: keys missing 'w', 'in', unknown 'x'"] + ["used"] * 10


def test_arrays_and_lists_of_arrays_have_the_same_centre(rows):
    plain, mixed = byz.Defense(RULE, 1), byz.Defense(RULE, 1)
    for alike in (rows, list(rows), tuple(rows), [row.tolist() for row in rows.astype(np.float64)]):
        assert np.allclose(mixed(alike), plain(rows), atol=1e-6)
    with pytest.raises(ValueError, match=r"shape \(5, 10\), expected shape \(50,\)"):
        mixed(rows.reshape(20, 5, 10))


def test_rules_without_memory_take_other_shapes(states, rows):
    defense = byz.Defense("median", 1)
    assert defense(states[0])["w"].shape == (3,) and defense(rows).shape == (50,)
