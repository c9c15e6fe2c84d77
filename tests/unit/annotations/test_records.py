"""What an annotation must be to be kept."""

import pytest

from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import ShapeError

OFFSETS = ((0, 2), (3, 7))


def test_item_tokens_are_cut_from_the_text():
    assert Item("Mr Ford", OFFSETS).tokens == ("Mr", "Ford")


@pytest.mark.parametrize("offsets", [((0, 3), (2, 7)), ((0, 8),), ((2, 2),), ((3, 7), (0, 2))])
def test_word_offsets_must_be_ordered_and_inside_the_text(offsets):
    with pytest.raises(ShapeError, match="word"):
        Item("Mr Ford", offsets)


def test_item_needs_one_gold_tag_per_word():
    with pytest.raises(ShapeError, match="expected 2, got 1"):
        Item("Mr Ford", OFFSETS, gold=("PROPN",))


@pytest.mark.parametrize(
    "changes",
    [{"proposed": ("X",)}, {"final": ("X", "X", "X")}, {"pins": {2: "X"}}, {"pins": {-1: "X"}}],
)
def test_tags_and_pins_must_fit_the_words(changes):
    tags = {"proposed": ("X", "X"), "final": ("X", "X"), **changes}
    with pytest.raises(ShapeError):
        Annotation(1, "anna", OFFSETS, **tags)
