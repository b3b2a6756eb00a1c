"""What is done to the messages before a rule sees them. A class for each, from the engine's table; the stub beside this file shows them."""

from .algorithms import classes as _classes

_made = _classes("pre_aggregators")
globals().update(_made)
__all__ = list(_made)
