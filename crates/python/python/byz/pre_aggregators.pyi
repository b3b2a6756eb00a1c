# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "PreAggregator",
    "NearestNeighborMixing",
    "Bucketing",
    "Clipping",
    "AdaptiveClipping",
]

class PreAggregator(Algorithm):
    """One of `byz.pre_aggregators`."""

class NearestNeighborMixing(PreAggregator):
    """Each message becomes the mean of the n−f messages nearest to it.

    Needs: n ≥ 2f+1.
    Aliases: nnm.
    Reference: Allouah et al., Fixing by mixing, AISTATS 2023."""

    def __init__(self) -> None: ...

class Bucketing(PreAggregator):
    """Shuffles the messages and averages them in buckets; fewer, more equal rows with the same f.

    Parameters:
        size: messages per bucket; a whole number of at least 1 [2]
        seed: seed of the shuffle; a whole number [0]

    Needs: ⌈n/size⌉ ≥ 2f+1.
    Aliases: buckets.
    Reference: Karimireddy et al., Byzantine-robust learning via bucketing, ICLR 2022."""

    def __init__(self, *, size: int = ..., seed: int = ...) -> None: ...

class Clipping(PreAggregator):
    """Scales messages longer than the radius back to it.

    Parameters:
        radius: largest norm; a finite number above zero [2]

    Needs: any n.
    Aliases: static_clipping, clip.
    Reference: folklore; compared in Allouah et al., Adaptive gradient clipping, 2024."""

    def __init__(self, *, radius: float = ...) -> None: ...

class AdaptiveClipping(PreAggregator):
    """Clips the ⌊2(f/n)(n−f)⌋ longest messages to the longest of the rest.

    Needs: n ≥ 2f+1.
    Aliases: arc.
    Reference: Allouah et al., Adaptive gradient clipping for robust federated learning, arXiv 2405.14432."""

    def __init__(self) -> None: ...
