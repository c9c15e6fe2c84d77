"""Uploaded models: readers, checks and the tagger over uploaded scores."""
