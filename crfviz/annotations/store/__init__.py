"""The database of annotations."""
