"""Words that somebody else split: a sentence with two blanks in every gap is not split again.

A corpus splits some words in other places than a tokenizer does. Two blanks survive typing, links
and the text box, and can be seen there. A single word has no gap: two blanks behind it say so.
"""

import re
from collections.abc import Callable, Sequence

GAP = "  "

_GAPS = re.compile(r"\s+")


def given_words(sentence: str) -> list[str] | None:
    """The words as they stand, or None where a tokenizer is to find them.

    >>> given_words("the  pic's  ."), given_words("the pic's  .")
    (['the', "pic's", '.'], None)
    >>> given_words("pic's  ")
    ["pic's"]
    """
    text = sentence.strip()
    gaps = _GAPS.findall(text)
    if text and not gaps and sentence.endswith(GAP):
        return [text]
    return _GAPS.split(text) if gaps and all(len(gap) > 1 for gap in gaps) else None


def sentence_of(words: Sequence[str], split: Callable[[str], list[str]]) -> str | None:
    """A sentence that is split into these words: with single blanks if they do, else with two.

    None where there is no such sentence: a word has a blank in it.
    """
    for text in (" ".join(words), GAP.join(words), GAP.join([*words, ""])):
        if (given_words(text) or split(text)) == list(words):
            return text
    return None
