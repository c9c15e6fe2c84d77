"""Panels of the annotation page."""
