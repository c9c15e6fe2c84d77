"""The scenario of a lecture, its link and its events."""
