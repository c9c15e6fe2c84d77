"""Counts of a run that can be merged."""
