"""Evidence for a reading of the parameters of an unknown layer."""
