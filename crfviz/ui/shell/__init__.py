"""Frame of every page: server, sidebar, assets, scripts."""
