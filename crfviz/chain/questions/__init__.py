"""Questions about a chain: why not another path, which edit flips it, how sure is it."""
