"""``python -m byz.stubs`` writes the type stubs of the algorithm classes from the engine's tables.

The classes are made when the package is imported, where no type checker sees them.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from .algorithms import FAMILIES, class_name, describe, documentation


def written(family: str) -> str:
    """The stub of a family's module."""
    ancestor = FAMILIES[family]
    text = ["# Written by python -m byz.stubs from the engine's tables; do not edit.", ""]
    text += ["from typing import Any", "", "from .algorithms import Algorithm", ""]
    text += ["__all__ = [", *(f'    "{name}",' for name in (ancestor, *(class_name(item["name"]) for item in describe(family)))), "]", ""]
    text += [f"class {ancestor}(Algorithm):", f'    """One of `byz.{family}`."""']
    for item in describe(family):
        text += ["", f"class {class_name(item['name'])}({ancestor}):"]
        text += textwrap.indent(f'"""{documentation(item)}"""', "    ").splitlines()
        text += ["", f"    def __init__({_arguments(item)}) -> None: ..."]
    return "\n".join(text) + "\n"


def _arguments(item: dict[str, Any]) -> str:
    given = [f"{parameter['name']}: {_type(parameter['accepts'])} = ..." for parameter in item["parameters"]]
    return ", ".join(["self", *(["*", *given] if given else [])])


def _type(accepts: str) -> str:
    """The type of what a parameter accepts, which the tables tell in words."""
    kinds = {"a whole number": "int", "a finite number": "float", "a list": "list[Any]", "one of": "str | int | bool"}
    kind = next(kind for words, kind in kinds.items() if accepts.startswith(words))
    return f"{kind} | str" if ", or one of" in accepts else kind


def main() -> None:
    """Writes them all, beside the modules."""
    for family in FAMILIES:
        path = Path(__file__).with_name(f"{family}.pyi")
        path.write_text(written(family))
        print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
