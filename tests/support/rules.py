"""Random rules, written for crfviz and for Python's `re`, which is the oracle.

Shares no code with crfviz: tags become letters, and `re.fullmatch` decides about every path.
"""

import itertools
import re

import numpy as np

TAGS = ("B-PER", ".", "x y", "NOUN")
LETTERS = "abcd"


def spelled(tag):
    return f'"{tag}"' if tag in (".", "x y") else tag


def random_rule(generator, num_tags, depth=3):
    """Return one random rule in both notations, over the first `num_tags` of `TAGS`."""
    kind = generator.choice(["tag", "any", "set", "sequence", "either", "repeat"])
    if depth == 0 or kind == "tag":
        tag = generator.integers(num_tags)
        return spelled(TAGS[tag]), LETTERS[tag]
    if kind == "any":
        return ".", f"[{LETTERS[:num_tags]}]"
    if kind == "set":
        tags = np.flatnonzero(generator.random(num_tags) < 0.5)
        tags = tags if len(tags) else [0]
        inverted = "^" * int(generator.integers(2) and len(tags) < num_tags)
        names = " ".join(spelled(TAGS[tag]) for tag in tags)
        allowed = [t for t in range(num_tags) if (t in tags) != bool(inverted)]
        return f"[{inverted}{names}]", f"[{''.join(LETTERS[t] for t in allowed)}]"
    parts = [random_rule(generator, num_tags, depth - 1) for _ in range(generator.integers(2, 4))]
    if kind == "sequence":
        return " ".join(ours for ours, _ in parts), "".join(theirs for _, theirs in parts)
    if kind == "either":
        return f"({'|'.join(ours for ours, _ in parts)})", f"(?:{'|'.join(t for _, t in parts)})"
    low, high = sorted(generator.integers(0, 4, 2).tolist())
    repeat = generator.choice(["*", "+", "?", f"{{{low}}}", f"{{{low},{high}}}", f"{{{low},}}"])
    return f"({parts[0][0]}){repeat}", f"(?:{parts[0][1]}){repeat}"


def all_paths(num_tokens, num_tags):
    """Return (N, T) tag ids of all N = K^T paths."""
    return np.array(list(itertools.product(range(num_tags), repeat=num_tokens)))


def matching(pattern, paths):
    """Return (N,) whether `re` matches each path, written in letters."""
    compiled = re.compile(pattern)
    letters = np.array(list(LETTERS))
    return np.array([compiled.fullmatch("".join(row)) is not None for row in letters[paths]])
