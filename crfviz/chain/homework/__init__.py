"""Checking a student's table: which cells are wrong, and which mistake explains them."""
