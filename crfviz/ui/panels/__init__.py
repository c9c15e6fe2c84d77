"""Panels of the pages about one sentence."""
