"""Which copies of a sentence go on where annotators contradict each other."""

import pytest

from crfviz.annotations.copies import contradicting, settled
from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import CrfvizError

WORDS = ((0, 3), (4, 8))
SAID = {  # by sentence, in the order of the annotators
    1: ["NV", "NV", "NV"],
    2: ["NV", "VV", "NV"],
    3: ["NV", "VV"],
    4: ["NN"],
    5: ["NV", "VV", "NN"],
}
PAIRS = [
    (Item("Kim left", WORDS, id=number), Annotation(number, who, WORDS, tuple(tags), tuple(tags)))
    for number, copies in SAID.items()
    for who, tags in zip(("anna", "ben", "cleo"), copies, strict=False)
]


@pytest.mark.parametrize(
    ("way", "kept"),
    [
        ("agreed", [(1, "NV"), (4, "NN")]),
        ("majority", [(1, "NV"), (2, "NV"), (4, "NN")]),
        ("all", [(number, tags) for number, copies in SAID.items() for tags in copies]),
    ],
)
def test_each_way_keeps_what_it_says(way, kept):
    assert [(item.id, "".join(a.final)) for item, a in settled(PAIRS, way)] == kept


def test_contradictions_are_refused_unless_a_way_is_chosen():
    assert [item.id for item in contradicting(PAIRS)] == [2, 3, 5]
    with pytest.raises(CrfvizError, match="disagree about 3 of 5 sentences: expected one annot"):
        settled(PAIRS, None)
    mine = [pair for pair in PAIRS if pair[1].annotator == "anna"]
    assert settled(mine, None) == mine


def test_words_split_otherwise_contradict():
    item = Item("Kim left", WORDS, id=1)
    other = Annotation(1, "ben", ((0, 8),), ("N",), ("N",))
    assert contradicting(
        [(item, Annotation(1, "anna", WORDS, ("N", "V"), ("N", "V"))), (item, other)]
    )
