"""Panels of the page about a model's errors."""
