"""Marks on the slider of the strength: where, and what flips."""

import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.tipping import Interval
from crfviz.views.strips.what_if import strength_marks

CHAIN = analyse(Potentials(torch.zeros(5, 2), torch.zeros(2, 2), tags="XY", tokens=list("abcde")))


def test_mark_between_two_intervals_lists_the_flips():
    pieces = [Interval(0.0, 0.5, [0, 1]), Interval(0.5, 1.25, [0, 0]), Interval(1.25, 2.0, [1, 1])]
    marks = strength_marks(pieces, CHAIN)
    assert [mark.at for mark in marks] == [0.5, 1.25]
    assert [mark.label for mark in marks] == ["“b” Y → X", "“a” X → Y, “b” X → Y"]


def test_single_path_at_all_strengths_has_no_mark():
    assert strength_marks([Interval(0.0, 2.0, [0])], CHAIN) == []


def test_many_flipped_words_are_abbreviated():
    pieces = [Interval(0.0, 1.0, [0] * 5), Interval(1.0, 2.0, [1] * 5)]
    (mark,) = strength_marks(pieces, CHAIN)
    assert mark.label.endswith("“c” X → Y and 2 more")
