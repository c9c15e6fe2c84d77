"""Updates of a model from stored annotations."""
