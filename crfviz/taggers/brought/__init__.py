"""Uploaded models: readers, checks and the tagger over brought scores."""
