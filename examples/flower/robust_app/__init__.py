"""A Flower app in which some of the clients misbehave on purpose."""
