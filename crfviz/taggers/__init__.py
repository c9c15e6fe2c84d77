"""Everything that turns words into potentials, and the registry over `models/`."""
