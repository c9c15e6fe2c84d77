"""Spellings and schemes of entity tags, against conversions by seqeval's and spaCy's own rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from spacy.training import biluo_to_iob, iob_to_biluo

from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences
from crfviz.text.readers.spelling import TARGETS, convert_tags
from crfviz.text.schemes import Span, tags_of

TYPES = ("PER", "LOC")


@st.composite
def entities(draw):
    """Tags in BIO of one sentence with at least one word."""
    tags, at = [], 0
    for _ in range(draw(st.integers(1, 5))):
        at += draw(st.integers(0, 2))
        end = at + draw(st.integers(1, 3))
        tags.append(Span(draw(st.sampled_from(TYPES)), at, end))
        at = end
    return tags_of(tags, at + draw(st.integers(0, 2)))


def written(tags, separator="\t"):
    return "".join(f"w{number}{separator}{tag}\n" for number, tag in enumerate(tags)) + "\n"


@given(entities())
def test_bilou_conversion_equals_spacy(tags):
    assert convert_tags(tags, "BIO", "BILOU") == iob_to_biluo(tags)
    assert convert_tags(iob_to_biluo(tags), "BILOU", "BIO") == biluo_to_iob(iob_to_biluo(tags))


@given(entities())
def test_entities_after_bioes_conversion_equal_seqeval(tags):
    converted = convert_tags(tags, "BIO", "BIOES")
    assert get_entities(converted) == get_entities(tags)


@given(st.lists(entities(), min_size=1, max_size=4))
def test_iob1_and_bmes_keep_their_entities(sentences):
    for scheme, target in (("IOB1", "BIO"), ("BIOES", "BIOES"), ("BILOU", "BILOU")):
        text = "".join(written(convert_tags(tags, "BIO", scheme)) for tags in sentences)
        expected = [tuple(convert_tags(tags, "BIO", target)) for tags in sentences]
        assert [sentence.tags for sentence in parse_sentences(text)] == expected
        back = [list(sentence.tags) for sentence in parse_sentences(text, scheme="BIO")]
        assert back == sentences


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        (["B_PER", "I_PER", "O"], ["B-PER", "I-PER", "O"]),
        (["PER-B", "PER-I", "O"], ["B-PER", "I-PER", "O"]),
        (["b-per", "i-per", "o"], ["B-per", "I-per", "O"]),
        (["B-PER", "M-PER", "E-PER", "S-LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]),
        (["B-PER", "M-PER", "E-PER", "W-LOC"], ["B-PER", "I-PER", "E-PER", "S-LOC"]),
        (["I-PER", "I-PER", "B-PER", "O", "I-LOC"], ["B-PER", "I-PER", "B-PER", "O", "B-LOC"]),
        (["B-PER", "O", "I-LOC"], ["B-PER", "O", "I-LOC"]),  # BIO with an error: kept
        (["NN", "X_1", "Y_2"], ["NN", "X_1", "Y_2"]),  # of no scheme
        (["-LRB-", "NNP", "-RRB-"], ["-LRB-", "NNP", "-RRB-"]),
    ],
)
def test_unusual_tag_spellings_are_normalised(tags, read):
    (sentence,) = parse_sentences(written(tags))
    assert list(sentence.tags) == read


def test_iob1_marker_in_a_later_sentence_leaves_earlier_tags_unchanged():
    text = written(["O", "O"]) + written(["I-PER"]) + written(["I-LOC", "B-LOC"])
    assert [s.tags for s in parse_sentences(text)] == [("O", "O"), ("B-PER",), ("B-LOC", "B-LOC")]
    text += written(["O", "B-PER"])  # in IOB1 no B- stands here
    assert parse_sentences(text)[1].tags == ("I-PER",)


@pytest.mark.parametrize("scheme", TARGETS)
def test_scheme_for_parts_of_speech_is_rejected(scheme):
    with pytest.raises(FormatError, match=f"expected entity tags to convert to {scheme}"):
        parse_sentences(written(["NOUN", "VERB"]), scheme=scheme)
    with pytest.raises(FormatError, match="expected one of the schemes"):
        parse_sentences(written(["O", "B-PER"]), scheme="BMES")
