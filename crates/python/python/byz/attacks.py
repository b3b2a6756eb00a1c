"""What Byzantine workers send. A class for each, from the engine's table; the stub beside this file shows them."""

from .algorithms import classes as _classes

_made = _classes("attacks")
globals().update(_made)
__all__ = list(_made)
