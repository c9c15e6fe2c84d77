"""Computations that are shown because they are instructive, not because they are fast."""
