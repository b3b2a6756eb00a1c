"""The links of an optimiser's chains. A class for each, from the engine's table; the stub beside this file shows them."""

from .algorithms import classes as _classes

_made = _classes("transforms")
globals().update(_made)
__all__ = list(_made)
