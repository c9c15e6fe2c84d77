"""Training of models on stored annotations."""
