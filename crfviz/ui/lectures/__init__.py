"""Lectures: the format, the editor and the player."""
