"""Readers of tagged sentences: find the format, read it, then treat all formats alike."""
