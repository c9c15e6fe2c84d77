"""Tables as data frames."""
