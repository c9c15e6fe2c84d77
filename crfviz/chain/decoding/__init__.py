"""Decoders: Viterbi, greedy, max-marginal, beam, k-best."""
