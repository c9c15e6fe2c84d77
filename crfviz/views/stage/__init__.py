"""The stage, the live picture: its payload and its component."""
