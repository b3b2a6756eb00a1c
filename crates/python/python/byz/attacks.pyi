# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Attack",
    "None_",
    "SignFlip",
    "LabelFlip",
    "Mimic",
    "LittleIsEnough",
    "InnerProduct",
    "MinMax",
    "MinSum",
    "Fang",
    "Gaussian",
    "NonFinite",
    "Zero",
    "Relocated",
    "WorstOf",
    "WorstCase",
]

class Attack(Algorithm):
    """One of `byz.attacks`."""

class None_(Attack):
    """Nobody lies.

    Needs: acts on messages.
    Aliases: honest.
    Reference: folklore."""

    def __init__(self) -> None: ...

class SignFlip(Attack):
    """Minus its own message, or minus the honest mean.

    Parameters:
        of: what is flipped: its own message or the honest mean; one of own, mean [own]

    Needs: acts on messages.
    Aliases: bf, bit_flip, sf.
    Reference: Li et al., RSA, AAAI 2019."""

    def __init__(self, *, of: str | int | bool = ...) -> None: ...

class LabelFlip(Attack):
    """Honest gradients of wrong labels: C−1−y, or (y+c) mod C.

    Parameters:
        map: what becomes of a label y of C classes: C−1−y, or (y+shift) mod C; one of reverse, shift
            [reverse]
        shift: c, for map=shift; a whole number of at least 1 [5]

    Needs: acts on gradients.
    Aliases: lf.
    Reference: Tolpegin et al., Data poisoning attacks against federated learning, ESORICS 2020."""

    def __init__(self, *, map: str | int | bool = ..., shift: int = ...) -> None: ...

class Mimic(Attack):
    """Copies one honest worker for ever, or is honest at first and then reverses the mean.

    Parameters:
        variant: copy one worker, or reverse the mean after the warm-up; one of copy, reverse [copy]
        warmup: rounds in which the worker to copy is chosen, or in which everyone is honest; a whole
            number [1 to copy, 50 to reverse]
        factor: length of the reversed mean, for variant=reverse; a finite number [2]

    Needs: acts on messages.
    Reference: Karimireddy et al., Byzantine-robust learning via bucketing, ICLR 2022."""

    def __init__(self, *, variant: str | int | bool = ..., warmup: int = ..., factor: float = ...) -> None: ...

class LittleIsEnough(Attack):
    """The honest mean plus or minus z standard deviations.

    Parameters:
        z: standard deviations: a number, quantile (from n and f), or optimal: what moves the aggregate
            most; a finite number, or one of quantile, optimal [1]
        sign: side of the mean; optimal tries both; one of plus, minus [plus]
        ddof: the variance divides by the honest count less this; one of 0, 1 [1]

    Needs: acts on messages.
    Aliases: alie.
    Reference: Baruch et al., A little is enough, NeurIPS 2019."""

    def __init__(self, *, z: float | str = ..., sign: str | int | bool = ..., ddof: str | int | bool = ...) -> None: ...

class InnerProduct(Attack):
    """−ε times the honest mean.

    Parameters:
        scale: ε, or optimal: what moves the aggregate most; a finite number, or one of optimal [0.1]

    Needs: acts on messages.
    Aliases: ipm, inner_product_manipulation.
    Reference: Xie et al., Fall of empires, UAI 2019."""

    def __init__(self, *, scale: float | str = ...) -> None: ...

class MinMax(Attack):
    """As far from the mean as keeps every distance below the largest honest one.

    Parameters:
        perturbation: direction away from the mean: the standard deviations, the mean, or its signs; one
            of std, unit, sign [std]

    Needs: acts on messages.
    Reference: Shejwalkar, Houmansadr, Manipulating the Byzantine, NDSS 2021."""

    def __init__(self, *, perturbation: str | int | bool = ...) -> None: ...

class MinSum(Attack):
    """As far from the mean as keeps the sum of squared distances within an honest one.

    Parameters:
        perturbation: direction away from the mean: the standard deviations, the mean, or its signs; one
            of std, unit, sign [std]
        bound: whose sum is the bound: the largest honest one, or the smallest; one of max, min [max]

    Needs: acts on messages.
    Reference: Shejwalkar, Houmansadr, Manipulating the Byzantine, NDSS 2021."""

    def __init__(self, *, perturbation: str | int | bool = ..., bound: str | int | bool = ...) -> None: ...

class Fang(Attack):
    """Beyond the honest extreme of every coordinate, against the sign of the mean.

    Parameters:
        target: the rule it is made for; one of trimmed_mean, median [trimmed_mean]
        factor: b: how far beyond the extreme, for a trimmed mean; at least 1; a finite number above
            zero [2]

    Needs: acts on messages.
    Aliases: directed_deviation.
    Reference: Fang et al., Local model poisoning attacks, USENIX Security 2020."""

    def __init__(self, *, target: str | int | bool = ..., factor: float = ...) -> None: ...

class Gaussian(Attack):
    """Normal noise, around zero or around the honest mean.

    Parameters:
        mean: mean of every coordinate's noise; a finite number [0]
        deviation: its standard deviation; a finite number of at least zero [1]
        around: what the noise is added to: nothing, or the honest mean; one of zero, mean [zero]

    Needs: acts on messages.
    Aliases: noise.
    Reference: Blanchard et al., Machine learning with adversaries, NeurIPS 2017."""

    def __init__(self, *, mean: float = ..., deviation: float = ..., around: str | int | bool = ...) -> None: ...

class NonFinite(Attack):
    """NaN, infinity, or finite numbers at the edge of the type.

    Parameters:
        value: what is sent; one of nan, inf, minus_inf, huge, denormal [nan]
        coordinate: the only coordinate to spoil, from 0; the others stay honest; a whole number of at
            least 0, or one of all [all]

    Needs: acts on messages.
    Aliases: nan.
    Reference: folklore."""

    def __init__(self, *, value: str | int | bool = ..., coordinate: int | str = ...) -> None: ...

class Zero(Attack):
    """The zero vector.

    Needs: acts on messages.
    Reference: folklore."""

    def __init__(self) -> None: ...

class Relocated(Attack):
    """The last honest mean plus a step of length z at an angle to it.

    Parameters:
        place: π: share of the last honest mean in where it starts; a finite number [1]
        angle: θ: degrees between the step and the reference; a finite number [270]
        history: λ: share of the last honest mean in the reference; a finite number [0.9]
        z: length of the step; a finite number [1]

    Needs: acts on messages.
    Aliases: rop, relocated_orthogonal_perturbation.
    Reference: Özfatura et al., Byzantines can also learn from history, IEEE TIFS 2024."""

    def __init__(self, *, place: float = ..., angle: float = ..., history: float = ..., z: float = ...) -> None: ...

class WorstOf(Attack):
    """Whichever of its members moves the aggregate most.

    Parameters:
        attacks: the members; they act on messages; a list such as [one,two(x=1)]
            [[sign_flip,little_is_enough,inner_product,min_max,mimic]]

    Needs: acts on messages.
    Reference: this project."""

    def __init__(self, *, attacks: list[Any] = ...) -> None: ...

class WorstCase(Attack):
    """What a search with the defence in the loop finds to do the most damage.

    Parameters:
        budget: forgeries tried per round; a whole number of at least 1 [150]
        objective: the next loss, or the distance of the aggregate from the honest mean; one of loss,
            displacement [loss]

    Needs: acts on messages.
    Reference: this project."""

    def __init__(self, *, budget: int = ..., objective: str | int | bool = ...) -> None: ...
