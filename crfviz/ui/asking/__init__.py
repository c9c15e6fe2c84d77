"""The quiz panel of a page."""
