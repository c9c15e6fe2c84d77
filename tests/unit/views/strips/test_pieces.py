"""Rows, tables and sentences of word pieces, worked out by hand."""

import math

import pytest

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.pieces import read_pieces
from crfviz.views.strips.pieces import (
    figure_frame,
    piece_note,
    piece_rows,
    pytorch_note,
    tag_frame,
)

WORDS = ["unfair", "fair", "s"]
CHAIN = Potentials(
    [[2.0, 0.0], [2.0, 0.0], [0.0, 1.5], [0.0, 2.0]],
    [[-3.0, 0.0], [0.0, -1.0]],
    tags=["N", "V"],
    tokens=["un", "##fair", "fair", "s"],
)
READ = read_pieces(CHAIN, [0, 0, 1, 2])


def test_rows_have_the_tags_and_inner_steps_of_each_reading():
    rows = {row.id: row for row in piece_rows(READ)}
    assert rows["word"].texts == ["1", "·", "2", "3"]
    assert rows["word"].tags == [0, 0, 1, 1]
    assert rows["first"].tags == [0, -1, 1, 1]  # N V V: 2 + 0 + 1.5 - 1 + 2
    assert rows["all"].tags == [1, 0, 1, 1]  # 0 + 0 + 2 + 0 + 1.5 - 1 + 2; next are 3.5
    assert rows["all_steps"].texts == ["", "0", "", ""]
    assert rows["all_steps"].titles == ["", "V → N 0.0000", "", ""]
    assert rows["holes"].tags == [0, 1, 0, 1]  # 2 + 0 + 0 + 0 + 0 + 0 + 2
    # Both pointers go back from 2 and 0 at un: V from N, and N from V.
    assert rows["pytorch_crf"].tags == [1, -1, 0, 1]


def test_figures_of_each_reading_equal_hand_computed_sums():
    frame = figure_frame(READ)
    assert list(frame.index) == ["first pieces", "all pieces", "holes", "pytorch-crf’s path"]
    # NNN, NNV, NVN, NVV, VNN, VNV, VVN, VVV
    paths = [
        2 - 3 + 0 - 3,
        2 - 3 + 2,
        2 + 1.5,
        2 + 1.5 - 1 + 2,
        0 - 3,
        2,
        -1 + 1.5,
        -1 + 1.5 - 1 + 2,
    ]
    total = math.log(sum(map(math.exp, paths)))
    assert frame["log Z"].iloc[[0, 3]].tolist() == pytest.approx([total, total])
    assert frame["best score"].tolist() == [4.5, 4.5, 4.0, 2.0]
    assert frame["p"].iloc[[0, 3]].tolist() == pytest.approx(
        [math.exp(4.5 - total), math.exp(2 - total)]
    )
    assert frame["positions"].tolist() == [3, 4, 4, 3]
    assert frame["inner steps"].tolist() == [0.0, 0.0, 0.0, 0.0]


def test_notes_report_the_changed_tags_of_each_reading():
    assert piece_note(READ, WORDS) == (
        "1 of 3 words split. All pieces: “unfair” N → V; 1 inner step, such as V → N in “unfair”, "
        "adds 0 nats. Holes: “fair” V → N; 1 inner step, such as N → V in “unfair”, adds 0 nats."
    )
    note = pytorch_note(READ, WORDS)
    assert "it scores 2.50 nats less: “unfair” N → V, “fair” V → N." in note
    taken = 4.5 - READ.first.log_partition
    assert f"it takes −{-taken:.4f}, which is right here." in note
    ends = read_pieces(CHAIN.with_end("N", -1.0).with_emission(3, "N", 4.0), [0, 0, 1, 2])
    # N V N: 2 + 0 + 1.5 + 0 + 4 - 1; pytorch-crf ends at position 2, which is V.
    taken = 6.5 - ends.first.log_partition
    right = f"it takes {taken + 1:.4f}, not {taken:.4f}.".replace("-", "−")
    assert right in pytorch_note(ends, WORDS)
    assert taken + 1 > 0  # no logarithm of a probability


def test_tag_frame_has_a_row_per_reading():
    table = tag_frame(READ)
    assert list(table.columns) == ["1 un", "2 ##fair", "3 fair", "4 s"]
    assert table.loc["all pieces"].tolist() == ["V", "N", "V", "V"]
    assert table.loc["first pieces"].tolist() == ["N", "–", "V", "V"]
    assert table.loc["inner steps, all pieces"].tolist() == ["", "V → N 0.0000", "", ""]
    assert table.loc["inner steps, holes"].tolist() == ["", "N → V 0.0000", "", ""]


def test_without_a_split_word_all_readings_are_the_same():
    whole = read_pieces(CHAIN, [0, 1, 2, 3])
    assert piece_note(whole, ["a", "b", "c", "d"]) == "No word is split: all readings are the same."
    assert pytorch_note(whole, ["a", "b", "c", "d"]) == ""
    assert [row.id for row in piece_rows(whole)] == ["word", "first", "all", "holes", "pytorch_crf"]


def test_readings_without_a_path_have_dashes():
    blocked = read_pieces(CHAIN.with_transition("N", "N", -math.inf).pin({0: "N", 1: "N"}), [0] * 4)
    rows = {row.id: row for row in piece_rows(blocked)}
    assert rows["first"].tags == [0, -1, -1, -1]
    assert rows["all"].tags is None
    assert "All pieces: no path is allowed." in piece_note(blocked, ["a"])
    assert math.isnan(figure_frame(blocked).loc["all pieces", "best score"])
    nothing = read_pieces(CHAIN.with_start("N", -math.inf).pin({0: "N"}), [0, 0, 1, 2])
    assert piece_note(nothing, WORDS).startswith("No path over the words is allowed")
    assert pytorch_note(nothing, WORDS) == ""
    assert len(figure_frame(nothing)) == 3
    assert set(tag_frame(nothing).loc["all pieces"]) == {"–"}
