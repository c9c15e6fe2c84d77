"""Annotations read from and written to files."""
