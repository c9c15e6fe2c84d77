"""Training of the neural, perceptron and HMM taggers."""
