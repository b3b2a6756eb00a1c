"""Rules that make one vector of many. A class for each, from the engine's table; the stub beside this file shows them."""

from .algorithms import classes as _classes

_made = _classes("aggregators")
globals().update(_made)
__all__ = list(_made)
