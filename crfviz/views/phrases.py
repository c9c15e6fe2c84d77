"""Pieces of sentences about words and their tags.

They hold the user's words: show them as text, never as Markdown or HTML.
"""

import re
from collections.abc import Sequence

from crfviz.chain.decoding.analysis import Analysis

_CODE = re.compile(r"`([^`]+)`")  # how claims mark words


def listed(texts: Sequence[str], most: int) -> str:
    """The first of them, and how many more there are: "a, b, c and 2 more"."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def differing(first: Sequence[int] | None, second: Sequence[int] | None) -> list[int]:
    """Positions where two paths differ; all of them where there is only one."""
    if first is None or second is None:
        return list(range(len(first or second or ())))
    return [t for t, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]


def moved(
    before: Sequence[int],
    after: Sequence[int],
    chain: Analysis,
    *,
    most: int = 3,
    sign: str = "→",
) -> str:
    """Where one path leaves another: “dog” NOUN → VERB, and so on; empty where nowhere."""
    changes = [
        f"“{chain.words[t]}” {chain.tags[before[t]]} {sign} {chain.tags[after[t]]}"
        for t in differing(before, after)
    ]
    return listed(changes, most)


def numbered(words: Sequence[str], t: int) -> str:
    """A word by its number too, for words repeat: 1 “the”."""
    return f"{t + 1} “{words[t]}”"


def named(words: Sequence[str], t: int) -> str:
    """Return a word with its number behind it: “the” (word 1)."""
    return f"“{words[t]}” (word {t + 1})"


def columns(words: Sequence[str]) -> list[str]:
    """The words as names of columns, told apart by their number: "1 the"."""
    return [f"{t} {word}" for t, word in enumerate(words, start=1)]


def claim_text(claim: str) -> str:
    """The claim of an example without markdown."""
    return _CODE.sub(r"“\1”", claim)
