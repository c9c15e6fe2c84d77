"""Models written by hand as tables of probabilities."""
