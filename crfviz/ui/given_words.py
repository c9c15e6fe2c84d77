"""Words that somebody else split: a sentence with two blanks in every gap is not split again.

A corpus splits some words in other places than a tokenizer does. Two blanks survive typing, links
and the text box, and can be seen there.
"""

import re
from collections.abc import Callable, Sequence

GAP = "  "

_GAPS = re.compile(r"\s+")


def given_words(sentence: str) -> list[str] | None:
    """The words as they stand, or None where a tokenizer is to find them.

    >>> given_words("the  pic's  ."), given_words("the pic's  .")
    (['the', "pic's", '.'], None)
    """
    text = sentence.strip()
    gaps = _GAPS.findall(text)
    return _GAPS.split(text) if gaps and all(len(gap) > 1 for gap in gaps) else None


def sentence_of(words: Sequence[str], split: Callable[[str], list[str]]) -> str | None:
    """A sentence that is split into these words: with single blanks if they do, else with two.

    None where there is no such sentence: a word with a blank, or a single word that is split.
    """
    for gap in (" ", GAP):
        text = gap.join(words)
        if (given_words(text) or split(text)) == list(words):
            return text
    return None
