"""Per-session state, widgets bound to it, access control, and scheduling of scripts and jobs."""
