"""Large files in shards, for processes or a cluster."""
