"""ByzFL's rules and pre-aggregators, in one package as there."""

from .aggregators import *  # noqa: F403
from .preaggregators import *  # noqa: F403
