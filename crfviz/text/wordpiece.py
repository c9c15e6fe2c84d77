"""WordPiece: words split into pieces of a vocabulary, the longest match first.

Source:
    Wu et al., "Google's Neural Machine Translation System" (2016), section 4.1; the greedy split
    and its marks are those of BERT (Devlin et al., 2019).
"""

from collections.abc import Collection, Sequence

UNKNOWN = "[UNK]"  # a word that the pieces cannot spell
INSIDE = "##"  # in front of a piece that does not begin its word
MAX_CHARACTERS = 100  # of a word; a longer one is unknown


def split_word(word: str, vocabulary: Collection[str]) -> list[str]:
    """Return the pieces of a word, or `UNKNOWN` alone.

    Args:
        word: text without white space.
        vocabulary: the pieces there are; a set, or the lookups take long.

    Example:
        >>> split_word("unfair", {"un", "##f", "##air", "##a", "fair"})
        ['un', '##f', '##air']
        >>> split_word("unsafe", {"un", "##s", "##a"})
        ['[UNK]']
    """
    if not 0 < len(word) <= MAX_CHARACTERS:
        return [UNKNOWN]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = INSIDE if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if mark + word[start:end] in vocabulary), None)
        if end is None:
            return [UNKNOWN]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


def split_words(words: Sequence[str], vocabulary: Collection[str]) -> tuple[list[str], list[int]]:
    """Return the P pieces of T words, and for each piece the position of its word."""
    split = [split_word(word, vocabulary) for word in words]
    pieces = [piece for each in split for piece in each]
    return pieces, [t for t, each in enumerate(split) for _ in each]
