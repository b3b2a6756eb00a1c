"""A class for every algorithm of the engine's tables, made from the tables themselves.

An object is nothing but a name with parameters: ``str(Krum(power=4))`` is ``"krum(power=4)"``, which is what configuration
files and the command line say too. A new rule in the engine appears here by itself.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from functools import cache
from keyword import iskeyword
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from . import _byz

# The engine's name of a family, and the class its members derive from.
FAMILIES = {
    "aggregators": "Aggregator",
    "pre_aggregators": "PreAggregator",
    "attacks": "Attack",
    "transforms": "Transform",
    "schedules": "Schedule",
    "partitions": "Partition",
    "tasks": "Task",
}


@cache
def _catalogue() -> dict[str, list[dict[str, Any]]]:
    return json.loads(_byz.catalogue())


def names(family: str) -> list[str]:
    """The names of a family's members: ``byz.names("aggregator")``."""
    return _byz.names(family)


def describe(family: str) -> list[dict[str, Any]]:
    """All that the tables say of a family's members: aliases, parameters, requirement, reference."""
    members = set(names(family))
    [found] = [items for items in _catalogue().values() if {item["name"] for item in items} == members]
    return json.loads(json.dumps(found))


class Expression:
    """Algorithms joined by ``+``: pre-aggregators, then a rule."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{self._text}>"

    def __add__(self, other: Expression | str) -> Expression:
        return Expression(f"{self}+{other}")

    def __radd__(self, other: str) -> Expression:
        return Expression(f"{other}+{self}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self._text)


class Algorithm(Expression):
    """One algorithm with its parameters; those not given have their defaults."""

    family: str
    name: str
    __signature__: ClassVar[inspect.Signature]

    def __init__(self, **parameters: Any) -> None:
        if not hasattr(self, "name"):
            families = [self.family] if hasattr(self, "family") else FAMILIES
            choice = ", ".join(f"byz.{family}" for family in families)
            raise TypeError(f"{type(self).__name__} is what they have in common; choose one of {choice}")
        given = ",".join(f"{name}={written(value)}" for name, value in parameters.items())
        super().__init__(f"{self.name}({given})" if given else self.name)
        _byz.check(self.family, str(self))
        self._parameters = parameters

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return f"{type(self).__name__}({given})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self._parameters)


def _rebuilt(kind: type[Algorithm], parameters: dict[str, Any]) -> Algorithm:
    return kind(**parameters)


def written(value: Any) -> str:
    """A parameter as expressions write it; NumPy's numbers are numbers, its truths truths."""
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, Real) and not isinstance(value, Integral):
        return repr(float(value))
    return str(value)


def class_name(name: str) -> str:
    """geometric_median → GeometricMedian; none → None_, because None is a word of the language."""
    name = "".join(word.capitalize() for word in name.split("_"))
    return f"{name}_" if iskeyword(name) else name


class _Default:
    """What a signature shows for a parameter that is not given."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def documentation(item: dict[str, Any]) -> str:
    """The docstring of an algorithm's class."""
    lines = [item["summary"][0].upper() + item["summary"][1:] + "."]
    if item["parameters"]:
        lines += ["", "Parameters:"]
        for parameter in item["parameters"]:
            text = f"{parameter['name']}: {parameter['summary']}; {parameter['accepts']} [{parameter['default']}]"
            lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="        ")
    lines += [""]
    if item["requirement"]:
        lines += [f"Needs: {item['requirement']}."]
    if item["aliases"]:
        lines += [f"Aliases: {', '.join(item['aliases'])}."]
    lines += [f"Reference: {item['reference']}."]
    return "\n".join(lines)


def classes(family: str) -> dict[str, type]:
    """The classes of a family by name, its common ancestor first."""
    ancestor = type(
        FAMILIES[family], (Algorithm,), {"family": family, "__module__": f"byz.{family}", "__doc__": f"One of `byz.{family}`."}
    )
    made = {ancestor.__name__: ancestor}
    for item in _catalogue()[family]:
        named = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(one["name"], named, default=_Default(one["default"])) for one in item["parameters"]]
        signature = inspect.Signature(parameters)
        body = {"name": item["name"], "__doc__": documentation(item), "__module__": f"byz.{family}", "__signature__": signature}
        made[class_name(item["name"])] = type(class_name(item["name"]), (ancestor,), body)
    return made
