"""The sentences that `ner-en` is measured on beside its corpora, as people type them.

Two hands wrote sixty each: whole sentences of lecturers, then headlines, questions, lower case,
first names alone, firms that are words and people who are called like places.
"""

from collections import Counter

import pytest

from crfviz.text.formats import read_sentences
from crfviz.text.schemes import OUTSIDE, repair, spans
from crfviz.text.sentences import Sentence
from tests.support.paths import FIXTURES

FIRST = read_sentences(FIXTURES / "typed_names.conll")
SECOND = read_sentences(FIXTURES / "typed_names_61_to_120.conll")
HALVES = pytest.mark.parametrize("sentences", [FIRST, SECOND], ids=["first", "second"])


@HALVES
def test_each_half_has_sixty_sentences(sentences: list[Sentence]) -> None:
    assert len(sentences) == 60


def test_sentences_are_distinct() -> None:
    assert len({sentence.tokens for sentence in (*FIRST, *SECOND)}) == 120


@HALVES
def test_tags_obey_bio(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        tags = sentence.tags or ()
        assert len(tags) == len(sentence.tokens)
        assert list(repair(tags)) == list(tags)


def test_sentences_of_the_first_half_end_with_a_full_stop_or_question_mark() -> None:
    for sentence in FIRST:
        assert sentence.tokens[-1] in {".", "?"}
        assert (sentence.tags or ())[-1] == OUTSIDE


def test_second_half_has_headlines_questions_and_lower_case() -> None:
    texts = [" ".join(sentence.tokens) for sentence in SECOND]
    assert sum(text[-1].isalpha() for text in texts) >= 20  # headlines and hurried messages
    assert sum(text.endswith("?") for text in texts) >= 12
    assert sum(text == text.lower() for text in texts) >= 12


@HALVES
def test_each_entity_type_occurs_thirty_times_and_some_sentences_have_none(
    sentences: list[Sentence],
) -> None:
    found = [spans(sentence.tags or ()) for sentence in sentences]
    types = Counter(entity.type for each in found for entity in each)
    assert set(types) == {"LOC", "ORG", "PER"}
    assert min(types.values()) >= 30
    assert 2 <= found.count([]) <= 6
