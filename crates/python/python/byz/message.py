"""What one worker sent: arrays, and the lists and mappings they lay in.

Mappings with the same keys are of the same form, whatever their order, and so are lists and tuples.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, Flag
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from .arrays import CopyWarning, Part, Unreadable, WrongType, kind_of, raised, read_array, without_half_characters

# A key comes from outside and goes to logs: as text without control characters, not all of it, and not all of them.
_LONGEST, _MOST = 60, 4

# A key is compared, hashed and written when nobody expects its sender's code to run. Very
# large whole numbers are not written by Python.
_PLAIN = {str, float, bool, bytes, type(None), *np.sctypeDict.values()}
_PLAIN_METHODS = {getattr(kind, name) for kind in (object, int, str, Enum, Flag) for name in ("__eq__", "__hash__", "__repr__")}


class Message(NamedTuple):
    """What one worker sent."""

    content: Any
    """A part, or parts in lists, tuples, dicts and ordered dicts."""
    signature: Any
    """What is the same in messages that can be aggregated together."""

    @property
    def order(self) -> Any:
        """What kinds of containers the parts lie in, and the order of their keys."""
        return _order(self.content)

    def arrays(self, like: Message) -> list[np.ndarray]:
        """The arrays, in the order of a message of the same signature."""
        return [part.array for part in _parts(self.content, like.content)]

    def restored(self, vector: np.ndarray) -> Any:
        """An aggregate as the worker wrote its message."""
        parts = list(_parts(self.content, self.content))
        ends = accumulate(part.array.size for part in parts)
        pieces = (part.restored(vector[end - part.array.size : end]) for part, end in zip(parts, ends, strict=True))
        return _filled(self.content, pieces)

    def ordered(self, layout: Any) -> Message:
        """The same with its keys in the order of a layout that is equal to its own."""
        return Message(_ordered(self.content, layout), self.signature)

    @property
    def layout(self) -> Any:
        """The keys and shapes alone, equal in whatever order the keys are: what must not change where coordinates are remembered."""
        return _layout(self.content)

    def described(self) -> str:
        return _described(self.content)

    def difference(self, usual: Message) -> str:
        """How it departs from the usual message, in words."""
        return _difference(self.content, usual.content)


def read_message(value: Any) -> Message | str:
    """A message as it is read, or what is wrong with it: whatever reading it raises is its sender's doing."""
    try:
        content = _read(value)
        return Message(content, _signature(content))
    except Unreadable as problem:
        remedy = ", or leave it out of all messages" if problem.place and isinstance(problem, WrongType) else ""
        where = f"entry {_written(problem.place)}: " if problem.place else ""
        return without_half_characters(f"{where}{problem}{remedy}")
    except CopyWarning:
        raise
    except Exception as problem:
        return raised(problem)


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        kind = OrderedDict if isinstance(value, OrderedDict) else dict
        return kind((key, _read_entry(key, inside)) for key, inside in value.items())
    if isinstance(value, (list, tuple)) and not are_numbers(value):
        return (tuple if type(value) is tuple else list)(_read_entry(index, inside) for index, inside in enumerate(value))
    part = read_array(value)
    return part if part.array.ndim == 1 else part._replace(array=np.ascontiguousarray(part.array))


def _read_entry(key: Any, value: Any) -> Any:
    if not _is_plain(key):
        raise Unreadable(f"expected keys that are texts, numbers, bytes, None, enum members or tuples of these, got {kind_of(key)}")
    try:
        return _read(value)
    except Unreadable as problem:
        problem.place = (key, *problem.place)
        raise


def _is_plain(key: Any) -> bool:
    """Whether nobody but Python and NumPy says what it is equal to and how it is written."""
    kind = type(key)
    if kind in _PLAIN:
        return True
    if kind is int:
        return int.bit_length(key) <= 64
    if kind is tuple:
        return all(map(_is_plain, key))
    return isinstance(key, Enum) and _PLAIN_METHODS.issuperset((kind.__eq__, kind.__hash__, kind.__repr__)) and _is_plain(key._value_)


def are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float, np.floating, np.integer)) for value in values)


def _signature(content: Any) -> Any:
    if isinstance(content, Part):
        return content.dtype, content.shape
    if isinstance(content, dict):
        return frozenset((key, _signature(inside)) for key, inside in content.items())
    return tuple(map(_signature, content))


def _order(content: Any) -> Any:
    if isinstance(content, Part):
        return None
    if isinstance(content, dict):
        return type(content), tuple(content), tuple(map(_order, content.values()))
    return type(content), tuple(map(_order, content))


def _layout(content: Any) -> Any:
    """A tuple is a shape, a list stands for lists and tuples, a dict for mappings."""
    if isinstance(content, Part):
        return content.shape
    if isinstance(content, dict):
        return {key: _layout(inside) for key, inside in content.items()}
    return [_layout(inside) for inside in content]


def _ordered(content: Any, layout: Any) -> Any:
    if isinstance(content, Part):
        return content
    if isinstance(content, dict):
        return type(content)((key, _ordered(content[key], inside)) for key, inside in layout.items())
    return type(content)(map(_ordered, content, layout))


def layout_difference(found: Any, expected: Any, place: tuple[Any, ...] = ()) -> str:
    """The first place where two layouts part, in words."""
    if isinstance(found, (dict, list)) and type(found) is type(expected):
        keys = _common_keys(found, expected)
        for key in keys or ():
            if found[key] != expected[key]:
                return layout_difference(found[key], expected[key], (*place, key))
    where = f"entry {_written(place)}: " if place else ""
    return f"{where}{_described_layout(found)}, expected {_described_layout(expected)}"


def _described_layout(layout: Any) -> str:
    if isinstance(layout, dict):
        return f"keys {_listed(list(layout))}"
    return f"a list of {len(layout)}" if isinstance(layout, list) else f"shape {layout}"


def _parts(content: Any, like: Any) -> Iterator[Part]:
    if isinstance(like, Part):
        yield content
    else:
        for key in like if isinstance(like, dict) else range(len(like)):
            yield from _parts(content[key], like[key])


def _filled(content: Any, pieces: Iterator[Any]) -> Any:
    """The same containers with the next pieces in the place of the parts."""
    if isinstance(content, Part):
        return next(pieces)
    if isinstance(content, dict):
        return type(content)((key, _filled(inside, pieces)) for key, inside in content.items())
    return type(content)(_filled(inside, pieces) for inside in content)


def _described(content: Any) -> str:
    if isinstance(content, Part):
        return f"{content.dtype} of shape {content.shape}"
    parts = list(_parts(content, content))
    more = f" and {len(parts) - _MOST} more" if len(parts) > _MOST else ""
    return f"{'dict' if isinstance(content, dict) else 'list'} of {', '.join(map(_described, parts[:_MOST]))}{more}"


def _difference(found: Any, usual: Any, place: tuple[Any, ...] = ()) -> str:
    """The first place where they part."""
    where = f"entry {_written(place)}: " if place else ""
    keys = _common_keys(found, usual)
    if keys is not None:
        for key in keys:
            if _signature(found[key]) != _signature(usual[key]):
                return _difference(found[key], usual[key], (*place, key))
    if isinstance(found, dict) and isinstance(usual, dict):
        missing, unknown = [key for key in usual if key not in found], [key for key in found if key not in usual]
        told = [f"{word} {_listed(some)}" for word, some in (("missing", missing), ("unknown", unknown)) if some]
        return f"{where}keys {', '.join(told)}"
    return f"{where}{_described(found)}, expected {_described(usual)}"


def _common_keys(found: Any, usual: Any) -> Any:
    """The keys of both, in the usual order; none if they have other keys."""
    if isinstance(found, dict) and isinstance(usual, dict):
        return list(usual) if found.keys() == usual.keys() else None
    are_lists = not any(isinstance(one, (Part, dict)) for one in (found, usual))
    return range(len(usual)) if are_lists and len(found) == len(usual) else None


def _listed(keys: list[Any]) -> str:
    more = f" and {len(keys) - _MOST} more" if len(keys) > _MOST else ""
    return f"{', '.join(ascii(key)[:_LONGEST] for key in keys[:_MOST])}{more}"


def _written(place: tuple[Any, ...]) -> str:
    return "".join(f"[{ascii(key)[:_LONGEST]}]" for key in place[:_MOST])
