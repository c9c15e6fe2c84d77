"""Pictures as LaTeX: the edits of a screen are listed below the picture."""

import pytest

from crfviz.chain.edits import Edits
from crfviz.taggers.registry import load_tagger
from crfviz.views.exports.live import Live
from crfviz.views.exports.tikz import PICTURES, tikz_of


@pytest.mark.parametrize("picture", PICTURES)
def test_picture_of_a_screen_lists_its_edits(picture):
    chain = load_tagger("textbook/ice-cream").potentials(["3", "1", "3"])
    edits = Edits(transitions={("C", "H"): -3.0}, emissions={(1, "H"): float("-inf")})
    edited, trained = tikz_of(Live(chain, edits=edits), picture), tikz_of(Live(chain), picture)
    last = edited.splitlines()[-3]
    for part in ("2 edits: C", "H -", "3.00", "inf"):
        assert part in last
    assert "edits" not in trained
