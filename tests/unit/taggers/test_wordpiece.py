"""WordPiece against its definition and the tokenizers library, whose splits are in a file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.taggers.pieces import split_word, split_words, vocabulary
from tests.support.paths import FIXTURES

LIBRARY = json.loads((FIXTURES / "wordpiece.json").read_text("utf-8"))  # of tokenizers 0.23.3


@pytest.mark.parametrize("entries", LIBRARY)
def test_words_are_split_as_by_the_tokenizers_library(entries):
    known, expected = vocabulary(int(entries)), LIBRARY[entries]
    assert {word: split_word(word, known) for word in expected} == expected
    assert len({len(pieces) for pieces in expected.values()}) > 5


def longest_first(word, pieces, mark=""):
    """The pieces by trying all from the longest on; None where nothing fits."""
    if not word:
        return []
    for piece in sorted(pieces, key=lambda piece: -len(piece)):
        if piece.startswith(mark) and (mark or not piece.startswith("##")):
            text = piece[len(mark) :]
            if text and word.startswith(text):
                rest = longest_first(word[len(text) :], pieces, "##")
                return None if rest is None else [piece, *rest]
    return None


words = st.text("ab", min_size=1, max_size=8)


@given(words, st.sets(st.tuples(st.sampled_from(["", "##"]), words), max_size=12))
def test_longest_matching_piece_is_taken_first(word, drawn):
    pieces = {mark + text for mark, text in drawn}
    assert split_word(word, pieces) == (longest_first(word, pieces) or ["[UNK]"])


def test_pieces_have_the_ids_of_their_words():
    split = split_words(["ab", "b", "é", "a"], {"a", "##b", "b"})
    assert split == (["a", "##b", "b", "[UNK]", "a"], [0, 0, 1, 2, 3])
    assert split_words([], {"a"}) == ([], [])
