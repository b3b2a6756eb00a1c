"""ByzFL's attacks, in a package as there."""

from .attacks import *  # noqa: F403
