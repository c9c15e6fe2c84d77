"""A site of live files whose taggers run in the browser."""
