"""Keys of mappings: what they may be, and that one worker's cannot end the round of the others."""

import enum
from collections import OrderedDict
from collections.abc import Mapping

import numpy as np
import pytest

import byz

ROW = np.ones(3)


class Raising(Exception):
    def __str__(self):
        raise RuntimeError("no text either")


def hostile(method, base=object, error=RuntimeError):
    """A message with a key of which this method raises once it lies there."""
    armed = []

    def raising(self, *_):
        if armed:
            raise error("gotcha")
        return 0

    message = {type("Key", (base,), {"__hash__": base.__hash__, method: raising})(): ROW}
    armed.append(True)
    return message


def key_of(message):
    [key] = message
    return key


class Listing(Mapping):
    def __init__(self, pairs):
        self.pairs = pairs

    def items(self):
        return self.pairs

    def __getitem__(self, key):
        return ROW

    def __iter__(self):
        return iter([])

    def __len__(self):
        return 1


class Color(enum.Enum):
    RED = "red"

    def __repr__(self):
        raise RuntimeError("gotcha")


class Held(enum.Enum):
    INSIDE = key_of(hostile("__repr__"))


HOSTILE = {
    "repr": lambda: hostile("__repr__"),
    "eq": lambda: hostile("__eq__"),
    "hash": lambda: hostile("__hash__"),
    "text of the error": lambda: hostile("__hash__", error=Raising),
    "a text of its own": lambda: hostile("__repr__", base=str),
    "a number of its own": lambda: hostile("__eq__", base=int),
    "in a tuple": lambda: {("a", key_of(hostile("__repr__"))): ROW},
    "enum": lambda: {Color.RED: ROW},
    "in an enum": lambda: {Held.INSIDE: ROW},
    "too long to write": lambda: {10**5000: ROW},
    "in a tuple too long to write": lambda: {("a", -(10**5000)): ROW},
    "a list": lambda: Listing([(["a"], ROW)]),
    "deeper": lambda: {"a": {"b": hostile("__repr__")}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_one_worker_with_a_hostile_key_is_invalid(name):
    honest = [{"a": ROW}] * 8
    for messages in ([*honest, HOSTILE[name]()], [HOSTILE[name](), *honest]):
        told = byz.aggregate(messages, "median", 2, explain=True)
        assert sorted(told.verdicts)[1:] == ["used"] * 8 and np.array_equal(told.vector["a"], ROW)
        assert sorted(told.verdicts)[0].startswith("invalid: ")
        mixed, verdicts = byz.mix(messages, "nnm", 2, explain=True)
        assert len(mixed) == 8 and verdicts == told.verdicts
    with pytest.raises(TypeError, match="vectors: "):
        byz.aggregate([HOSTILE[name]() for _ in range(5)], "median", 1)


def test_a_verdict_says_what_keys_may_be():
    told = byz.aggregate([{"a": {"b": ROW}}] * 8 + [{"a": hostile("__eq__")}], "median", 2, explain=True)
    assert told.verdicts[8].startswith("invalid: entry ['a']: expected keys that are texts, numbers, bytes, None, enum members or tuples of these, got ")


class Part(enum.Enum):
    WEIGHT = ("layer", 1)


class Number(enum.IntEnum):
    ONE = 1


class Name(str, enum.Enum):
    BIAS = "bias"


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


PLAIN = ["a", "\ud800\n", 3, -1.5, True, b"raw", None, (), ("a", (1, None)), np.int64(3), np.str_("a"), np.float32(2.0)]


@pytest.mark.parametrize("key", [*PLAIN, Part.WEIGHT, Number.ONE, Name.BIAS, Flags.A | Flags.B], ids=repr)
def test_plain_keys_come_back_as_they_were(key):
    for kind in (dict, OrderedDict):
        told = byz.aggregate([kind({key: ROW, "more": ROW})] * 6 + [{"other": ROW}], "median", 1, explain=True)
        [found, _] = told.vector
        assert type(told.vector) is kind and found is key and told.verdicts[6].startswith("invalid: keys missing ")
