"""The lattice to take away: the figure says what the chain says, and the file is safe and whole."""

import math
from dataclasses import replace

import pytest
import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.views.figures.offline import LARGEST_NODE, lattice_figure, lattice_html

TAGS = ("DET", "NOUN", "VERB")
WORDS = ("the", "dog", "the")


@pytest.fixture
def analysis():
    emissions = [[3.0, 0.0, 0.0], [0.0, 2.0, 1.5], [2.0, 0.0, 1.9]]
    transitions = [[-1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, -2.0]]
    return analyse(Potentials(emissions, transitions, tags=TAGS, tokens=WORDS))


def trace(figure, name):
    return next(trace for trace in figure.data if trace.name.startswith(name))


def test_the_path_drawn_is_viterbis(analysis):
    drawn = trace(lattice_figure(analysis), "Viterbi")
    assert [2 - height for height in drawn.y] == analysis.viterbi.path
    assert f"{analysis.viterbi.probability:.3f}" in drawn.name


def test_node_area_grows_with_the_marginal(analysis):
    nodes = trace(lattice_figure(analysis), "circle")
    marginals = analysis.forward_backward.marginals.flatten().tolist()
    for size, marginal in zip(nodes.marker.size, marginals, strict=True):
        assert ((size - 4) / (LARGEST_NODE - 4)) ** 2 == pytest.approx(marginal, abs=1e-9)


def test_every_backpointer_is_drawn_once(analysis):
    lines = trace(lattice_figure(analysis), "backpointers")
    steps = {
        (int(lines.x[i]), 2 - int(lines.y[i]), 2 - int(lines.y[i + 1]))
        for i in range(0, len(lines.x), 3)
    }
    expected = {
        (t - 1, analysis.backpointers[t, k].item(), k) for t in range(1, 3) for k in range(3)
    }
    assert steps == expected


def test_repeated_words_keep_columns_of_their_own(analysis):
    axis = lattice_figure(analysis).layout.xaxis
    assert list(axis.tickvals) == [0, 1, 2]
    assert list(axis.ticktext) == list(WORDS)


def test_words_are_text_and_never_markup(analysis):
    words = ("<script>alert(1)</script>", "<b>", "&")
    page = lattice_html(analyse(replace(analysis.potentials, tokens=words)))
    assert "<script>alert" not in page
    assert "<b>" not in page.split("plotly.js")[-1].rsplit("<script", 1)[-1]


def test_the_page_needs_no_network(analysis):
    page = lattice_html(analysis)
    assert 'src="http' not in page
    assert "default-src 'none'" in page.split("<title>")[0]


def test_a_chain_without_a_path_still_gives_a_figure():
    chain = Potentials(torch.zeros(2, 2), torch.full((2, 2), -math.inf))
    figure = lattice_figure(analyse(chain))
    assert not any(trace.name.startswith("Viterbi") for trace in figure.data)
