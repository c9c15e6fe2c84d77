"""Tables of an evaluation, made from counts."""
