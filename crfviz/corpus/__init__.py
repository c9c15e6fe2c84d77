"""Work over many sentences: training and evaluation."""
