"""Edits of a whole matrix in one text: what is packed is unpacked, and nothing else is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.edits import END, START
from crfviz.ui.state.link_text import FEW, pack, unpack
from tests.support.strategies import fewer_examples

TAGS = [f"T{k}" for k in range(12)]
moves = st.tuples(st.sampled_from([START, END, *TAGS]), st.sampled_from([*TAGS, START, END]))
scores = st.integers(-1_999_999_999, 1_999_999_999).map(lambda n: n / 1_000_000)


@fewer_examples
@given(
    st.dictionaries(
        moves.filter(lambda move: move != (START, END)),
        scores | st.just(-math.inf),
        min_size=FEW + 1,
        max_size=120,
    )
)
def test_packed_edits_are_unpacked_unchanged(edits):
    assert unpack(pack(edits)) == edits


def test_matrix_of_seventeen_tags_is_packed_into_2000_characters():
    tags = [f"B-TAG{k}" for k in range(17)]
    cells = [(a, b) for a in [START, *tags] for b in [*tags, END] if (a, b) != (START, END)]
    edits = {cell: round(math.sin(i), 6) for i, cell in enumerate(cells)}
    text = pack(edits)
    assert len(text) < 2000
    assert unpack(text) == edits


def test_few_long_or_large_scores_are_not_packed():
    few = {("T0", tag): 1.0 for tag in TAGS}
    many = {(a, b): 1.0 for a in TAGS for b in TAGS}
    assert pack(few) == ""
    assert pack(many) != ""
    assert pack({**many, ("T0", "T1"): 0.1234567}) == ""
    assert pack({**many, ("T0", "T1"): 3000.0}) == ""


@pytest.mark.parametrize(
    "text",
    ["", ":", "A", "A:", "A:AAAA", "A:!!!!", ".:AAAA", "A.A:AAAA", "A:AAAAA", "é:" + "A" * 9999],
)
def test_invalid_packed_text_gives_none(text):
    assert unpack(text) is None


@given(st.text(max_size=60))
def test_any_packed_text_is_unpacked_without_an_exception(text):
    unpack(text)
