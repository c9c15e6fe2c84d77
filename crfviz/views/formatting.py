"""Formatting of numbers and sentences; `stage/web/numbers.js` does it for the stage.

Numbers have a true minus, "−", at which no line breaks; infinity is "∞", NaN a dash. Probabilities
are in [0, 1], scores in nats. Sentences contain the user's words: show them as text, never as
Markdown or HTML.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.recursions import TOLERANCE

_CODE = re.compile(r"`([^`]+)`")  # how claims mark words


def minus(text: str) -> str:
    return text.replace("-", "−")


def score(value: float, digits: int = 2) -> str:
    """Return a score with a fixed number of decimals."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else minus(text)


def added(value: float, digits: int = 2) -> str:
    """Return a number as a term of a sum: "+ 1.5", "− 1.5"."""
    return f"− {score(-value, digits)}" if value < 0 else f"+ {score(value, digits)}"


def signed(value: float, digits: int = 2) -> str:
    """Return a change with its sign; "0" for none at all, "0.00" where it rounds to that."""
    text = score(value, digits) if value else "0"
    return f"+{text}" if value > 0 and text.strip("0.") else text


def short(value: float, *, plus: bool = False) -> str:
    """Return a score for a sentence: two decimals, or one figure where those would be all 0."""
    text = rounding(value) if abs(value) < 0.005 else score(value, 2)
    return f"+{text}" if plus and value > 0 else text


def format_probability(value: float, digits: int = 2) -> str:
    """Return a probability with fixed decimals, or one figure where those would be all 0."""
    if value == 0 or value >= 0.5 * 10**-digits:
        return f"{value:.{digits}f}"
    return f"{value:.1g}" if value >= 1e-4 else rounding(value)


def told_apart(first: float, second: float, digits: int = 2) -> tuple[str, str]:
    """Return two probabilities with as many digits as it takes to see which is larger."""
    texts = format_probability(first, digits), format_probability(second, digits)
    while texts[0] == texts[1] and not same(first, second):
        digits += 2
        texts = f"{first:.{digits}f}", f"{second:.{digits}f}"
    return texts


def share(value: float) -> str:
    """Return a probability or an entropy for a cell: two decimals, a dot for 0.00."""
    return "·" if value < 0.005 else f"{value:.2f}"


def per_cent(value: float, digits: int = 2) -> str:
    """Return a share in [0, 1] in per cent; never a plain 0 for a positive share."""
    nothing = 0.0 < value < 0.5 * 10 ** -(digits + 2)
    return minus(f"{100 * value:.1e} %") if nothing else f"{100 * value:.{digits}f} %"


def rounding(value: float | np.floating) -> str:
    return minus(f"{value:.0e}") if value else "0"


def count(number: int, noun: str) -> str:
    """Return the number with its noun: "1 edit", "2 edits", "1,000 edits"."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def same(first: float, second: float) -> bool:
    """Return whether two numbers are equal up to rounding."""
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def listed(texts: Sequence[str], most: int) -> str:
    """Return the first texts and how many more there are: "a, b, c and 2 more"."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def differing(first: Sequence[int] | None, second: Sequence[int] | None) -> list[int]:
    """Return the positions where two paths differ; all of them where one is missing."""
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
    """Return where two paths differ: “dog” NOUN → VERB, and so on; empty for nowhere."""
    changes = [
        f"“{chain.words[t]}” {chain.tags[before[t]]} {sign} {chain.tags[after[t]]}"
        for t in differing(before, after)
    ]
    return listed(changes, most)


def numbered(words: Sequence[str], t: int) -> str:
    """Return a word with its number, for words repeat: 1 “the”."""
    return f"{t + 1} “{words[t]}”"


def named(words: Sequence[str], t: int) -> str:
    """Return a word with its number behind it: “the” (word 1)."""
    return f"“{words[t]}” (word {t + 1})"


def columns(words: Sequence[str]) -> list[str]:
    return [f"{t} {word}" for t, word in enumerate(words, start=1)]


def claim_text(claim: str) -> str:
    """Return the claim of an example without Markdown."""
    return _CODE.sub(r"“\1”", claim)
