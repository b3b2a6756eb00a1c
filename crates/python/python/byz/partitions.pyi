# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Partition",
    "Iid",
    "SortedByLabel",
    "Dirichlet",
    "GammaSimilarity",
    "LongTail",
    "Shards",
    "Contiguous",
]

class Partition(Algorithm):
    """One of `byz.partitions`."""

class Iid(Partition):
    """A random order of all examples, cut evenly.

    Reference: folklore."""

    def __init__(self) -> None: ...

class SortedByLabel(Partition):
    """The examples sorted by label, cut into consecutive shards: one or two classes each.

    Parameters:
        pad: fill the last shard with the first examples, so that all have ⌈n/count⌉; one of false, true
            [false]

    Reference: Karimireddy, He, Jaggi, Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022."""

    def __init__(self, *, pad: str | int | bool = ...) -> None: ...

class Dirichlet(Partition):
    """Every class is shared out by its own Dirichlet draw: small alpha, few classes each.

    Parameters:
        alpha: concentration: large is iid, small is one class each; a finite number above zero [0.5]
        minimum: examples that every shard must have; drawn again until it has; a whole number of at
            least 1 [10]

    Reference: Hsu, Qi, Brown, Measuring the effects of non-identical data distribution, 2019."""

    def __init__(self, *, alpha: float = ..., minimum: int = ...) -> None: ...

class GammaSimilarity(Partition):
    """A share gamma of the examples is iid, the rest sorted by label.

    Parameters:
        gamma: share of iid examples: 1 is iid, 0 is sorted by label; a finite number of at least zero
            [0.5]

    Reference: Karimireddy et al., SCAFFOLD, ICML 2020."""

    def __init__(self, *, gamma: float = ...) -> None: ...

class LongTail(Partition):
    """Class i keeps the share beta^i of its examples; what is kept is dealt out.

    Parameters:
        beta: how much smaller each class is than the one before, up to 1; a finite number above zero
            [0.5]
        order: how the kept examples are dealt out: at random, or sorted by label; one of iid, sorted
            [iid]

    Reference: Karimireddy, He, Jaggi, Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022."""

    def __init__(self, *, beta: float = ..., order: str | int | bool = ...) -> None: ...

class Shards(Partition):
    """The examples sorted by label and cut into small pieces, a few random pieces each.

    Parameters:
        per_worker: pieces for every worker; a whole number of at least 1 [2]

    Reference: McMahan et al., Communication-efficient learning of deep networks, AISTATS 2017."""

    def __init__(self, *, per_worker: int = ...) -> None: ...

class Contiguous(Partition):
    """The examples in their order, cut into consecutive shards.

    Parameters:
        remainder: who takes what is left over: the first shards one each, or the last all; one of
            spread, last [spread]

    Aliases: contiguous_text.
    Reference: folklore."""

    def __init__(self, *, remainder: str | int | bool = ...) -> None: ...
