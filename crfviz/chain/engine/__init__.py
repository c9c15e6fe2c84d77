"""Recursions as products of matrices, for one sentence and for batches."""
