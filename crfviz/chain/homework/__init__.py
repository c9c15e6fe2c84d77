"""Check of a student's table: the wrong cells, and the mistake that explains them."""
