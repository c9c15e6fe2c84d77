"""Training and evaluation on many sentences."""
