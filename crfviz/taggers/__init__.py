"""Taggers, which turn words into potentials, and the registry of `models/`."""
