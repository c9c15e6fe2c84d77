"""A scene as a static picture."""

import re

import torch

import crfviz
from crfviz.chain.decoding.analysis import analyse
from crfviz.views.figures.thumbnail import still
from crfviz.views.stage.picture import Grid


def drawn(words):
    emissions = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 0.5]], dtype=torch.float64)
    analysis = analyse(
        crfviz.Potentials(emissions, torch.zeros(2, 2), tags=["A", "B"], tokens=words)
    )
    picture = still(analysis, grids=[Grid("emissions", "scores", emissions, 1.0)])
    return picture, [
        re.search(rf'<text x="(\d+)"[^>]*>{word}</text>', picture)[1] for word in words
    ]


def test_columns_follow_the_text_direction():
    (left, forwards), (right, backwards) = drawn(("a", "b", "7")), drawn(("א", "ב", "7"))
    assert forwards == backwards[::-1]
    assert forwards == sorted(forwards, key=int)
    for mark in (r'cx="(\d+)"', r'<rect x="(\d+)"', r'points="(\d+),'):
        assert {*re.findall(mark, left)} >= {*re.findall(mark, right)} - {forwards[-1]}
    assert left.count('text-anchor="start" font-size') == right.count('text-anchor="end" font-size')
    assert ">2.0</text>" in right
