"""Labelling of sentences with a model's help: records, store, files, agreement, teaching."""
