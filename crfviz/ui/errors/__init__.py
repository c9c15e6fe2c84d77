"""Panels of the page Model errors."""
