"""A model's run over a corpus: scores, tags and errors."""
