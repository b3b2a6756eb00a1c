# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Transform",
    "Momentum",
    "Normalize",
    "Lmo",
    "Clip",
    "WeightDecay",
]

class Transform(Algorithm):
    """One of `byz.transforms`."""

class Momentum(Transform):
    """A memory of past updates: moving average or heavy ball.

    Parameters:
        form: (1-rate)v + rate g, or beta v + g; one of ema, heavy_ball [ema]
        rate: share of the present, up to 1; 1 - beta; a finite number above zero [the schedule's, else
            0.1]
        beta: share of the past, below 1; 1 - rate; a finite number of at least zero [the schedule's,
            else 0.9]
        start: what it starts from; one of zero, gradient [zero]

    Reference: Karimireddy, He, Jaggi, Learning from history, ICML 2021."""

    def __init__(self, *, form: str | int | bool = ..., rate: float = ..., beta: float = ..., start: str | int | bool = ...) -> None: ...

class Normalize(Transform):
    """The update divided by its Euclidean length; zero stays zero.

    Parameters:
        cut: updates of up to this length become zero; a finite number of at least zero [0]

    Reference: Cutkosky, Mehta, Momentum improves normalized SGD, ICML 2020."""

    def __init__(self, *, cut: float = ...) -> None: ...

class Lmo(Transform):
    """The point of a norm's unit ball that is furthest along the update.

    Parameters:
        norm: whose ball; one of l2, linf, l1, spectral, nuclear [l2]
        vectors: norm of vectors and embeddings beside spectral and nuclear; one of l2, linf [l2]
        method: how spectral is computed: exactly, or as Muon does; one of svd, newton_schulz [svd]
        steps: of newton_schulz; a whole number of at least 1 [5]
        scope: one ball for the whole vector, or one for each layer; one of whole, layer [whole for l2
            and l1, else layer]
        radius: of the ball; a finite number above zero [1]
        radii: of some layers' balls, as in [fc1.weight:2,fc1.bias:0.5]; a list such as [one,two(x=1)]
            [[]]

    Reference: Pethick et al., Training deep learning models with norm-constrained LMOs, ICML 2025."""

    def __init__(self, *, norm: str | int | bool = ..., vectors: str | int | bool = ..., method: str | int | bool = ..., steps: int = ..., scope: str | int | bool = ..., radius: float = ..., radii: list[Any] = ...) -> None: ...

class Clip(Transform):
    """The update scaled down to a radius if it is longer.

    Parameters:
        radius: the largest length; a finite number above zero [1]

    Reference: Zhang et al., Why gradient clipping accelerates training, ICLR 2020."""

    def __init__(self, *, radius: float = ...) -> None: ...

class WeightDecay(Transform):
    """Adds a multiple of the parameters to the update.

    Parameters:
        rate: the multiple; a finite number of at least zero [1e-4]

    Reference: Loshchilov, Hutter, Decoupled weight decay regularization, ICLR 2019."""

    def __init__(self, *, rate: float = ...) -> None: ...
