import pytest
import torch

from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.neural.network import BEGIN, END, PADDING, UNKNOWN, build_vocabulary

VOCABULARY = build_vocabulary(
    [["the", "dog", "."], ["The", "cat", "."], ["a@b.org", "@bob", "@eve"]],
    min_words=2,
    min_characters=1,
)


def test_vocabulary_omits_rare_words_and_sorts_by_frequency():
    assert VOCABULARY.words == (".", "@user", "the")


def test_vocabulary_contains_no_names_or_addresses():
    assert not any("bob" in word or "a@b" in word for word in VOCABULARY.words)


def test_batch_pads_words_and_records_lengths():
    batch = VOCABULARY.encode([["The", "zebra"], ["."]])
    the, dot = VOCABULARY.word_ids["the"], VOCABULARY.word_ids["."]
    assert batch.words.tolist() == [[the, UNKNOWN], [dot, PADDING]]
    assert batch.lengths.tolist() == [2, 1]
    assert batch.mask.tolist() == [[True, True], [True, False]]


def test_each_distinct_word_is_spelt_once_with_begin_and_end():
    batch = VOCABULARY.encode([["dog", "dog", "."]])
    assert batch.forms.tolist() == [[0, 0, 1]]
    dog = [VOCABULARY.character_ids[c] for c in "dog"]
    dot = VOCABULARY.character_ids["."]
    assert batch.characters.tolist() == [
        [BEGIN, *dog, END],
        [BEGIN, dot, END, PADDING, PADDING],
    ]


@pytest.mark.parametrize("sentences", [[], [[]], [["a"], []]], ids=["none", "blank", "one blank"])
def test_empty_sentence_is_rejected(sentences):
    with pytest.raises(EmptySentenceError, match="at least one word"):
        VOCABULARY.encode(sentences)


def test_batch_ids_have_dtype_long():
    batch = VOCABULARY.encode([["dog"]])
    assert {batch.words.dtype, batch.characters.dtype, batch.shapes.dtype} == {torch.long}
