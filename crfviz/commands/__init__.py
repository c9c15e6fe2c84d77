"""The command line: one module for each `python -m crfviz NAME`."""
