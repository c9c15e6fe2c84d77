"""Character and word embeddings under a CRF layer."""
