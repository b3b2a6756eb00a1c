# Written by python -m byz.stubs from the engine's tables; do not edit.

from typing import Any

from .algorithms import Algorithm

__all__ = [
    "Task",
    "Quartic",
    "Logistic",
    "MnistMlp",
    "MnistCnn",
    "CharGpt",
]

class Task(Algorithm):
    """One of `byz.tasks`."""

class Quartic(Task):
    """F(x) = ‖x‖⁴ with shifted and noisy gradients; needs no data.

    Parameters:
        dimension: coordinates; a whole number of at least 1 [10]
        shift: standard deviation of the workers' shifts; a finite number of at least zero [1e-3]
        shift_seed: seed of the shifts alone; a whole number [the run's seed]
        centering: how the shifts come to add up to zero: less their mean, or the last makes up for the
            others; one of mean, last [mean]
        noise: standard deviation (scale, for Student t) of the noise; a finite number of at least zero
            [1e-5]
        freedom: degrees of freedom of Student t noise; a finite number above zero [infinite: Gaussian
            noise]
        clip: largest length of a worker's gradient; a finite number above zero [infinite]
        reach: largest ‖x‖ inside the gradient's formula; a finite number above zero [infinite]
        draws: whose random numbers: byz's own, or NumPy's in the order of the released code, the noise
            of the seed that drew the shifts behind these or not; one of own, numpy, numpy_after_shifts
            [own]

    Aliases: synthetic.
    Reference: the synthetic task of the Byz-NSGDM paper."""

    def __init__(self, *, dimension: int = ..., shift: float = ..., shift_seed: int = ..., centering: str | int | bool = ..., noise: float = ..., freedom: float = ..., clip: float = ..., reach: float = ..., draws: str | int | bool = ...) -> None: ...

class Logistic(Task):
    """Multinomial logistic regression on MNIST; convex, 7,850 parameters.

    Parameters:
        validation: training images held out for tuning; a whole number [0]
        test: test images judged on, in the order of their labels; a whole number of at least 1 [10000]

    Aliases: mnist_logistic.
    Reference: LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)."""

    def __init__(self, *, validation: int = ..., test: int = ...) -> None: ...

class MnistMlp(Task):
    """A perceptron 784-128-64-10 with ReLU on MNIST; 109,386 parameters.

    Parameters:
        validation: training images held out for tuning; a whole number [0]
        test: test images judged on, in the order of their labels; a whole number of at least 1 [10000]

    Aliases: mlp.
    Reference: LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)."""

    def __init__(self, *, validation: int = ..., test: int = ...) -> None: ...

class MnistCnn(Task):
    """Two convolutions and two linear layers with dropout on MNIST; 1,199,882 parameters.

    Parameters:
        dropout: what the first dropout drops: each number, or whole channels; one of element, channel
            [channel]
        masks: dropout masks per worker and round, or the same ones always; one of fresh, frozen [fresh]
        start: the initial parameters: drawn by byz, or as PyTorch draws them from the same seed; one of
            own, pytorch [own]
        validation: training images held out for tuning; a whole number [0]
        test: test images judged on, in the order of their labels; a whole number of at least 1 [10000]

    Aliases: cnn.
    Reference: LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)."""

    def __init__(self, *, dropout: str | int | bool = ..., masks: str | int | bool = ..., start: str | int | bool = ..., validation: int = ..., test: int = ...) -> None: ...

class CharGpt(Task):
    """A small GPT that predicts the next character of Shakespeare.

    Parameters:
        layers: pairs of attention and feed-forward; a whole number of at least 1 [4]
        width: numbers per character; a whole number of at least 1 [128]
        heads: attention heads; they divide the width; a whole number of at least 1 [4]
        block: characters per example; a whole number of at least 1 [128]
        gelu: the activation: exact, or approximated with tanh; one of erf, tanh [erf]
        dropout: share of activations dropped in training, below 1; a finite number of at least zero
            [0.1]
        masks: dropout masks: new ones, or the same for all workers in all rounds; one of fresh, frozen
            [fresh]
        validation: validation blocks that the perplexity is taken over, or all; a whole number of at
            least 1, or one of all [768]

    Aliases: gpt.
    Reference: Radford et al., Language models are unsupervised multitask learners, 2019."""

    def __init__(self, *, layers: int = ..., width: int = ..., heads: int = ..., block: int = ..., gelu: str | int | bool = ..., dropout: float = ..., masks: str | int | bool = ..., validation: int | str = ...) -> None: ...
