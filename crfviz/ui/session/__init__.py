"""Per-session state and limits."""
