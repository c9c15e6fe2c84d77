"""Word pieces: WordPiece splitting, this project's vocabulary, and the chain over pieces.

Source:
    Wu et al., "Google's Neural Machine Translation System" (2016), section 4.1; the greedy split
    and its marks are those of BERT (Devlin et al., 2019).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

from crfviz.chain.potentials import ArrayLike, Potentials
from crfviz.chain.questions.pieces import Pieces, read_pieces
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError
from crfviz.taggers.registry import SHIPPED

VOCABULARY = SHIPPED / "wordpiece" / "vocabulary.txt"
LARGEST = 8000  # entries of the vocabulary
# Letters come first, then pieces in the order in which they were learnt. So the first n entries
# are the vocabulary of a training that stops at n entries.
UNKNOWN = "[UNK]"  # a word that the pieces cannot spell
INSIDE = "##"  # prefix of pieces that do not begin their word
MAX_CHARACTERS = 100  # a longer word is unknown


def pieces(
    potentials: Potentials,
    word_ids: Sequence[int | None] | None = None,
    *,
    mask: ArrayLike | None = None,
    entries: int = LARGEST,
) -> Pieces:
    """Read a chain over word pieces in three ways, and as pytorch-crf does.

    `first` has the first piece of each word, `all` every piece, and `holes` every piece, with
    emissions only at first pieces; `pytorch_crf` is the path that pytorch-crf decodes under a mask
    that is true at first pieces. Each reading has `potentials`, `words`, `log_partition`, `path`,
    `best` and `inner_steps`. Costs O(P K^2).

    Args:
        potentials: P pieces as positions.
        word_ids: the word of each piece, as a fast tokenizer of Hugging Face gives them; None for a
            special token or padding, which all readings leave out.
        mask: (P,) instead of word_ids, true at the first piece of each word. Pieces before the
            first one are left out, those after it belong to the word before.
        entries: size of the vocabulary if neither is given: then positions are words, which
            WordPiece splits. Each piece has the emissions of its word.

    Raises:
        ShapeError: word ids or mask do not fit, or a piece between words belongs to none.
        EmptySentenceError: no piece belongs to a word.
        CrfvizError: words are to be split, but the chain has none, or a matrix for each step.

    Example:
        >>> chain = Potentials([[1.0, 0.0], [0.0, 2.0], [0.0, 0.5]], [[0.0, 1.0], [0.0, 0.0]])
        >>> read = pieces(chain, [0, 0, 1])
        >>> read.first.path, read.all.path, read.all.inner_steps[0].tags
        ([0, 1], [0, 1, 1], (0, 1))
    """
    if word_ids is None and mask is None:
        potentials, word_ids = split_chain(potentials, entries)
    return read_pieces(potentials, word_ids, mask=mask)


def split_chain(potentials: Potentials, entries: int = LARGEST) -> tuple[Potentials, list[int]]:
    """Return the chain over the P pieces of its words, each with the emissions of its word.

    Returns:
        The chain, and the position of the word of each piece.

    Raises:
        CrfvizError: the chain has no words, or a matrix for each step.
    """
    if potentials.tokens is None:
        raise CrfvizError("the chain has no words to split: give word_ids or mask")
    if not potentials.homogeneous:
        raise CrfvizError(
            "each step of this chain has its own matrix, and none leads from piece to piece"
        )
    tokens, word_ids = split_words(potentials.tokens, vocabulary(entries))
    emissions = potentials.emissions[word_ids]
    return replace(potentials, emissions=emissions, tokens=tuple(tokens)), word_ids


@cache
def vocabulary(entries: int = LARGEST) -> frozenset[str]:
    """Return the first entries of the vocabulary."""
    listed = VOCABULARY.read_text(encoding="utf-8").splitlines()
    return frozenset(listed[: require_count("entries", entries)])


def split_word(word: str, vocabulary: Collection[str]) -> list[str]:
    """Return the pieces of a word, or `UNKNOWN` alone.

    Args:
        word: text without white space.
        vocabulary: all known pieces; a set, because lookups in a list are slow.

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
