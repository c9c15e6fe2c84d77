"""Rows of tags under a sentence."""
