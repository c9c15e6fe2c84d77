"""Mergeable counts of a run."""
