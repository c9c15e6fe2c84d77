"""Live rooms: viewers follow the screen of a speaker."""
