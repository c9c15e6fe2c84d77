"""The scenario (the state of the screen), its link, its snapshots, and the stage's events."""
