"""The command line, a module a command: what `python -m crfviz NAME` does."""
