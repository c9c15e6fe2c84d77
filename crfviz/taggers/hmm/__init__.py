"""Hidden Markov models: estimates from counts, and the tagger."""
