"""Byzantine-robust aggregation: one vector from many, some of them lies.

>>> import numpy as np, byz
>>> rows = np.array([[1.0, 2.0], [1.2, 2.1], [0.9, 1.8], [-50.0, np.nan]])
>>> byz.aggregate(rows, "geometric_median", tolerance=1).round(1)
array([1., 2.])

`aggregate` is one call, `Defense` is reusable and keeps what its rule remembers, `Attack` forges what liars send.
Algorithms are named by expressions such as ``"nnm+geometric_median"`` or built from the classes in `byz.aggregators`,
`byz.pre_aggregators`, `byz.attacks` and the other families that `byz.names` lists.
"""

from . import aggregators, attacks, partitions, pre_aggregators, schedules, tasks, transforms
from ._byz import RefusedError, __version__
from .algorithms import Algorithm, Expression, describe, names
from .attack import Attack
from .defense import Aggregate, Defense, NotGuaranteedWarning, aggregate, mix
from .runs import Run, rounds, run, sweep

__all__ = [
    "Aggregate",
    "Algorithm",
    "Attack",
    "Defense",
    "Expression",
    "NotGuaranteedWarning",
    "RefusedError",
    "Run",
    "__version__",
    "aggregate",
    "aggregators",
    "attacks",
    "describe",
    "mix",
    "names",
    "partitions",
    "pre_aggregators",
    "rounds",
    "run",
    "schedules",
    "sweep",
    "tasks",
    "transforms",
]
