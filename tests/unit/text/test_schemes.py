from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.scheme import BILOU, IOB2, IOBES, Entities

from crfviz.text.schemes import (
    Span,
    entity_scheme,
    is_bio,
    may_follow,
    repair,
    spans,
    split_tag,
    tags_of,
)

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
taggings = st.lists(st.sampled_from(TAGS), min_size=1, max_size=12)


def test_spans_of_bio_tags():
    tags = ["B-PER", "I-PER", "B-PER", "O", "B-LOC"]
    assert spans(tags) == [Span("PER", 0, 2), Span("PER", 2, 3), Span("LOC", 4, 5)]


def test_illegal_i_tag_belongs_to_no_entity():
    assert spans(["I-PER", "B-PER", "I-LOC", "I-LOC"]) == [Span("PER", 1, 2)]


def test_tags_without_a_scheme_have_no_spans():
    assert spans(["DET", "NOUN"]) == []
    assert spans([]) == []


@given(taggings)
def test_spans_equal_seqeval_in_strict_mode(tags):
    expected = [(e.tag, e.start, e.end) for e in Entities([tags], IOB2).entities[0]]
    assert [(span.type, span.start, span.end) for span in spans(tags)] == expected


PREFIXES = {"BIOES": ("BIES", IOBES), "BILOU": ("BILU", BILOU)}


@pytest.mark.parametrize("scheme", PREFIXES)
@given(data=st.data())
def test_spans_of_closed_schemes_equal_seqeval(scheme, data):
    letters, theirs = PREFIXES[scheme]
    known = ["O", *[f"{letter}-{kind}" for letter in letters for kind in ("PER", "LOC")]]
    tags = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=9))
    expected = [(e.tag, e.start, e.end) for e in Entities([tags], theirs).entities[0]]
    found = spans(tags, scheme)
    assert [(span.type, span.start, span.end) for span in found] == expected
    legal = tags_of(found, len(tags), scheme)
    assert spans(legal, scheme) == found
    padded = ["O", *tags, "O"]
    is_legal = all(may_follow(b, a, scheme) for a, b in pairwise(padded))
    assert is_legal == (legal == tags)


@given(taggings)
def test_tags_from_spans_have_the_same_spans(tags):
    found = spans(tags)
    assert spans(tags_of(found, len(tags))) == found


@given(taggings)
def test_repair_makes_tags_legal_and_is_idempotent(tags):
    repaired = repair(tags)
    assert tags_of(spans(repaired), len(tags)) == repaired
    assert repair(repaired) == repaired


def test_repair_begins_an_entity_where_the_type_changes():
    assert repair(["I-PER", "I-PER", "I-LOC", "O", "I-LOC"]) == [
        "B-PER",
        "I-PER",
        "B-LOC",
        "O",
        "B-LOC",
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["O", "B-PER", "I-PER"], True),
        (["O"], False),  # no entity could ever begin
        (["O", "B-"], False),
        (["NOUN", "B-PER"], False),
        ([], False),
    ],
)
def test_is_bio_recognises_bio_tags(tags, expected):
    assert is_bio(tags) is expected


def test_entity_type_may_contain_a_hyphen():
    assert split_tag("B-creative-work") == ("B", "creative-work")


def test_inside_tag_may_follow_only_its_own_type():
    before = {tag: {other for other in TAGS if may_follow(tag, other)} for tag in TAGS}
    assert before == {
        "O": set(TAGS),
        "B-PER": set(TAGS),
        "B-LOC": set(TAGS),
        "I-PER": {"B-PER", "I-PER"},
        "I-LOC": {"B-LOC", "I-LOC"},
    }


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (["O", "B-X", "I-X"], "BIO"),
        (["B-X"], "BIO"),
        (["O", "B-X", "I-X", "E-X", "S-X"], "BIOES"),
        (["O", "B-X", "I-X", "L-X", "U-Y"], "BILOU"),
        (["O", "B-X", "E-X", "L-X"], None),
        (["O", "I-X"], None),
        (["O", "B-"], None),
        (["O"], None),
        (["NOUN", "B-X"], None),
        ([], None),
        (["", "B-X"], None),
    ],
)
def test_entity_scheme_is_detected_by_the_prefixes(tags, scheme):
    assert entity_scheme(tags) == scheme
