"""Byz-NSGDM for PyTorch: worker momentum, a robust aggregate, a step of fixed length.

>>> import torch, byz.torch                                                                      # doctest: +SKIP
>>> optimizer = byz.torch.ByzNSGDM(model.parameters(), workers=20, tolerance=3, lr=0.1)          # doctest: +SKIP
>>> gradients = byz.torch.per_worker_gradients(model, loss, batches)                             # doctest: +SKIP
>>> optimizer.step(gradients)                                                                    # doctest: +SKIP

`gradients` computes one gradient per worker, `messages` reads what the workers sent, `optimizer` puts the step together, `norms` says
in which direction it goes.
"""

from .gradients import per_worker_gradients
from .optimizer import ByzNSGDM

__all__ = ["ByzNSGDM", "per_worker_gradients"]
