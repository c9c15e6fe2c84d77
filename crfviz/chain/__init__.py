"""The maths of a linear-chain CRF: no words, no models, no pictures."""
