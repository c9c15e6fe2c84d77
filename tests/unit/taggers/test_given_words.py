import pytest

from crfviz.taggers.tagger import english_words
from crfviz.text.tokenizer import given_words, sentence_of


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("the  pic's  .", ["the", "pic's", "."]),
        ("  the   pic's  ", ["the", "pic's"]),
        ("the pic's  .", None),
        ("word", None),
        ("word  ", ["word"]),
        ("word ", None),
        ("  ", None),
        ("", None),
    ],
)
def test_two_blanks_in_every_gap_keep_the_words(sentence, words):
    assert given_words(sentence) == words


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["He", "runs", "."], "He runs ."),
        (["the", "pic's", "."], "the  pic's  ."),
        (["Argghhh!"], "Argghhh!  "),
        (["New York", "is"], None),
    ],
)
def test_a_sentence_is_found_that_splits_into_the_words(words, sentence):
    assert sentence_of(words, english_words) == sentence
