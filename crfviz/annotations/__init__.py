"""Sentences that people label with a model's help: records, store, files, agreement, learning."""
