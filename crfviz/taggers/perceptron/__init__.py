"""Averaged perceptron over sparse features."""
