# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Aggregator",
    "Mean",
    "Median",
    "TrimmedMean",
    "MeanAroundMedian",
    "Krum",
    "MultiKrum",
    "Bulyan",
    "MinimumDiameterAveraging",
    "GeometricMedian",
    "CenteredClipping",
    "Smea",
    "Caf",
    "Monna",
    "SignMajority",
    "DivideAndConquer",
]

class Aggregator(Algorithm):
    """One of `byz.aggregators`."""

class Mean(Aggregator):
    """The arithmetic mean; any single Byzantine worker controls it.

    Needs: f = 0.
    Aliases: average, avg.
    Reference: –."""

    def __init__(self) -> None: ...

class Median(Aggregator):
    """The median of every coordinate.

    Needs: n ≥ 2f+1.
    Aliases: cm, cwmed, coordinate_wise_median.
    Reference: Yin et al., Byzantine-robust distributed learning, ICML 2018."""

    def __init__(self) -> None: ...

class TrimmedMean(Aggregator):
    """The mean of every coordinate without its f smallest and f largest values.

    Needs: n ≥ 2f+1.
    Aliases: tm, cwtm, trmean, coordinate_wise_trimmed_mean.
    Reference: Yin et al., Byzantine-robust distributed learning, ICML 2018."""

    def __init__(self) -> None: ...

class MeanAroundMedian(Aggregator):
    """The mean of the n−f values nearest the median, in every coordinate.

    Needs: n ≥ 2f+1.
    Aliases: meamed, mam.
    Reference: Xie et al., Generalized Byzantine-tolerant SGD, arXiv 1802.10116."""

    def __init__(self) -> None: ...

class Krum(Aggregator):
    """The message with the smallest sum of squared distances to its nearest others.

    Parameters:
        neighbors: nearest others that count: n-f-2, n-f-1 or a number; a whole number of at least 1, or
            one of n-f-2, n-f-1 [n-f-2]
        power: power of the distance in the score; one of 1, 2, 4 [2]

    Needs: n ≥ 2f+3 and f ≤ neighbors ≤ n−f−1.
    Reference: Blanchard et al., Machine learning with adversaries, NeurIPS 2017."""

    def __init__(self, *, neighbors: int | str = ..., power: str | int | bool = ...) -> None: ...

class MultiKrum(Aggregator):
    """The mean of the m messages with the lowest Krum scores.

    Parameters:
        select: messages averaged, m: n-f-2, n-f or a number; a whole number of at least 1, or one of
            n-f-2, n-f [n-f-2]
        neighbors: nearest others that count: n-f-2, n-f-1 or a number; a whole number of at least 1, or
            one of n-f-2, n-f-1 [n-f-2]
        power: power of the distance in the score; one of 1, 2, 4 [2]

    Needs: n ≥ 2f+3, select ≤ n−f−2 and f ≤ neighbors ≤ n−f−1.
    Aliases: multikrum, mkrum.
    Reference: Blanchard et al., Machine learning with adversaries, NeurIPS 2017."""

    def __init__(self, *, select: int | str = ..., neighbors: int | str = ..., power: str | int | bool = ...) -> None: ...

class Bulyan(Aggregator):
    """N−2f messages by repeated Krum, then the mean around their median in every coordinate.

    Needs: n ≥ 4f+3.
    Reference: El Mhamdi et al., The hidden vulnerability of distributed learning, ICML 2018."""

    def __init__(self) -> None: ...

class MinimumDiameterAveraging(Aggregator):
    """The mean of the n−f messages of least diameter, found exactly.

    Needs: n ≥ 2f+1; refuses beyond 5·10¹⁰/n² search steps.
    Aliases: mda.
    Reference: El Mhamdi et al., Genuinely distributed Byzantine machine learning, PODC 2020."""

    def __init__(self) -> None: ...

class GeometricMedian(Aggregator):
    """The point with the least sum of distances to the messages.

    Parameters:
        iterations: number of iterations; a whole number of at least 1 [to convergence]
        smoothing: absolute ν of the smoothed Weiszfeld iteration; gives up scale equivariance; a finite
            number above zero [none: the exact median]
        start: where to start; one of medoid, mean, zero [medoid]

    Needs: n ≥ 2f+1, without smoothing, from the medoid or to convergence.
    Aliases: gm, rfa.
    Reference: Pillutla et al., Robust aggregation for federated learning, IEEE TSP 2022."""

    def __init__(self, *, iterations: int = ..., smoothing: float = ..., start: str | int | bool = ...) -> None: ...

class CenteredClipping(Aggregator):
    """The centre plus the mean of differences clipped to a radius.

    Parameters:
        radius: largest difference, τ; a finite number above zero [10]
        iterations: repetitions, L; a whole number of at least 1 [1]

    Needs: n ≥ 10f+1.
    Aliases: cc, centred_clipping.
    Reference: Karimireddy et al., Learning from history for Byzantine robust optimization, ICML 2021."""

    def __init__(self, *, radius: float = ..., iterations: int = ...) -> None: ...

class Smea(Aggregator):
    """The mean of the n−f messages whose covariance has the least largest eigenvalue, found exactly.

    Needs: n ≥ 2f+1; refuses beyond 3·10¹⁰/n³ search steps.
    Aliases: smallest_maximum_eigenvalue_averaging.
    Reference: Allouah et al., On the privacy-robustness-utility trilemma, ICML 2023."""

    def __init__(self) -> None: ...

class Caf(Aggregator):
    """Weighs down messages along the leading eigenvector and keeps the mean of least variance.

    Needs: n ≥ 2f+1.
    Aliases: covariance_bound_agnostic_filter.
    Reference: Allouah et al., Towards trustworthy federated learning with untrusted participants, 2025."""

    def __init__(self) -> None: ...

class Monna(Aggregator):
    """The mean of the n−f messages nearest to a trusted worker's.

    Parameters:
        trusted: index of the trusted worker; a whole number [0]

    Needs: n ≥ 2f+1 and an honest trusted worker.
    Aliases: mon_na.
    Reference: Farhadkhani et al., Robust collaborative learning with linear gradient overhead, ICML 2023."""

    def __init__(self, *, trusted: int = ...) -> None: ...

class SignMajority(Aggregator):
    """The majority of signs in every coordinate: −1, 0 or 1.

    Needs: n ≥ 2f+1.
    Aliases: majority_vote, signsgd.
    Reference: Bernstein et al., signSGD with majority vote, ICLR 2019."""

    def __init__(self) -> None: ...

class DivideAndConquer(Aggregator):
    """The mean of the messages that never stick out along a leading direction of random coordinates.

    Parameters:
        iterations: repetitions; a whole number of at least 1 [1]
        coordinates: coordinates looked at, b; a whole number of at least 1 [10000]
        factor: messages dropped per tolerated worker, c; a finite number above zero [1]
        seed: seed of the choice; a whole number [0]

    Needs: f = 0 (a heuristic without a worst-case promise).
    Aliases: dnc.
    Reference: Shejwalkar and Houmansadr, Manipulating the Byzantine, NDSS 2021."""

    def __init__(self, *, iterations: int = ..., coordinates: int = ..., factor: float = ..., seed: int = ...) -> None: ...
