"""Begun sentences to learn from, word by word."""

from dataclasses import replace

import pytest

from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching.partly import partly_tagged
from tests.support.fake_tagger import FakeTagger

TAGS = ("O", "B-WARE", "I-WARE")
OFFSETS = ((0, 1), (2, 3), (4, 5), (6, 7))
ITEM = Item("a b c d", OFFSETS)
BEGUN = Annotation(
    1, "anna", OFFSETS, ("O",) * 4, ("O", "B-WARE", "I-WARE", "O"), {1: "B-WARE", 2: "I-WARE"}
)


def tags_of(found):
    return ["".join(tag[0] for tag, may in zip(TAGS, row, strict=True) if may) for row in found]


def test_pins_are_given_the_word_after_an_entity_cannot_go_on_and_the_rest_is_free():
    (found,) = partly_tagged([(ITEM, BEGUN)], TAGS, None)
    assert found.tokens == ("a", "b", "c", "d")
    assert tags_of(found.allowed) == ["OBI", "B", "I", "OB"]


def test_sure_guesses_are_given():
    sure = FakeTagger(TAGS, {"a": {"O": 9.0}, "d": {"O": 0.5}}, scheme="BIO")
    (found,) = partly_tagged([(ITEM, BEGUN)], TAGS, sure)
    assert tags_of(found.allowed) == ["O", "B", "I", "OB"]
    sure.probabilistic = False
    (found,) = partly_tagged([(ITEM, BEGUN)], TAGS, sure)
    assert tags_of(found.allowed) == ["OBI", "B", "I", "OB"]


@pytest.mark.parametrize(
    "left",
    [{"state": "done"}, {"pins": {}}, {"pins": {0: "B-DING"}}],
    ids=["done", "no tag set", "another tag"],
)
def test_others_are_left_out(left):
    assert partly_tagged([(ITEM, replace(BEGUN, **left))], TAGS, None) == []
