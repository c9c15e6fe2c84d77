"""Entities of BIO tags: their probability and the mass of illegal paths."""
