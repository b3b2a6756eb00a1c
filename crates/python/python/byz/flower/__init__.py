"""Strategies for Flower that go on when some of the clients lie, crash or send rubbish.

>>> from byz.flower import RobustFedAvg                                                          # doctest: +SKIP
>>> strategy = RobustFedAvg("nnm+geometric_median", tolerance=3, deadline=120)                   # doctest: +SKIP
>>> result = strategy.start(grid=grid, initial_arrays=arrays, num_rounds=20)                     # doctest: +SKIP
>>> strategy.reports[-1].verdicts                                                                # doctest: +SKIP

A round is `ask → collect → read → aggregate → step`. `collect` waits for the nodes until a deadline, `model` reads each reply alone
against the global model, `strategy` puts the round together, `fedavg` and `nsgdm` say what a message is and how the model moves.
"""

from .fedavg import RobustFedAvg
from .nsgdm import ByzNSGDM
from .strategy import Report, RobustStrategy

__all__ = ["ByzNSGDM", "Report", "RobustFedAvg", "RobustStrategy"]
