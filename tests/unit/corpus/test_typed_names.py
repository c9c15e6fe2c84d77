"""The sixty sentences that `ner-en` is measured on beside its corpora, as lecturers type them."""

from collections import Counter

from crfviz.text.formats import read_sentences
from crfviz.text.schemes import OUTSIDE, repair, spans
from tests.support.paths import FIXTURES

SENTENCES = read_sentences(FIXTURES / "typed_names.conll")


def test_there_are_sixty_different_sentences() -> None:
    assert len({sentence.tokens for sentence in SENTENCES}) == len(SENTENCES) == 60


def test_each_ends_like_a_sentence_and_obeys_bio() -> None:
    for sentence in SENTENCES:
        tags = sentence.tags or ()
        assert sentence.tokens[-1] in {".", "?"}
        assert tags[-1] == OUTSIDE
        assert list(repair(tags)) == list(tags)


def test_each_type_is_there_thirty_times_and_some_sentences_have_no_name() -> None:
    found = [spans(sentence.tags or ()) for sentence in SENTENCES]
    types = Counter(entity.type for each in found for entity in each)
    assert set(types) == {"LOC", "ORG", "PER"}
    assert min(types.values()) >= 30
    assert 2 <= found.count([]) <= 6
