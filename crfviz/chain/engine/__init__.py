"""Recursions as matrix products, for one sentence and for batches."""
