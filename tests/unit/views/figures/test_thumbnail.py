"""A scene as a static picture."""

import re

import torch

import crfviz
from crfviz.chain.decoding.analysis import analyse
from crfviz.views.figures.thumbnail import still
from crfviz.views.stage.picture import Grid


def drawn(words, direction=""):
    emissions = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 0.5]], dtype=torch.float64)
    analysis = analyse(
        crfviz.Potentials(emissions, torch.zeros(2, 2), tags=["A", "B"], tokens=words)
    )
    picture = still(
        analysis, grids=[Grid("emissions", "scores", emissions, 1.0)], direction=direction
    )
    return picture, [
        re.search(rf'<text x="(\d+)"[^>]*>{word}</text>', picture)[1] for word in words
    ]


def test_columns_follow_the_text_direction():
    (left, forwards), (right, backwards) = drawn(("a", "b", "7")), drawn(("א", "ב", "7"))
    assert forwards == sorted(forwards, key=int)
    assert backwards == sorted(backwards, key=int, reverse=True)
    width = int(re.search(r'viewBox="0 0 (\d+)', left)[1])
    for mark in (r'cx="(\d+)"', r'points="(\d+),', r'<text x="(\d+)"[^>]*>[AB]</text>'):
        mirrored = [width - int(x) for x in re.findall(mark, right)]
        assert [int(x) for x in re.findall(mark, left)] == mirrored
    assert left.count('text-anchor="start" font-size') == right.count('text-anchor="end" font-size')
    assert ">2.0</text>" in right


def test_chosen_direction_overrides_the_text():
    hebrew, english = ("א", "ב", "7"), ("a", "b", "7")
    assert drawn(english, "rtl")[1] == drawn(hebrew)[1]
    assert drawn(hebrew, "ltr")[1] == drawn(english)[1]
