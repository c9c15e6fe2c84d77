"""The widget of notebooks: what the browser tells is what Python has, and the other way round."""

import math

import pytest

import crfviz
from crfviz.views.exports.notebook import edits_of
from tests.unit.views.exports.test_notebook import chain

EDITS = {"transitions": [["A", "<b>", 2.5]], "emissions": [[1, "A", None]], "strength": 0.5}


@pytest.fixture
def widget():
    pytest.importorskip("anywidget")
    return crfviz.show(chain())


def test_widget_edits_change_the_potentials_and_the_path(widget):
    assert widget.potentials.emissions.equal(chain().emissions)
    assert widget.path == crfviz.viterbi(chain()).path
    widget.edits = EDITS
    expected = crfviz.Edits({("A", "<b>"): 2.5}, {(1, "A"): -math.inf}, 0.5).apply(chain())
    assert widget.potentials.emissions.equal(expected.emissions)
    assert widget.potentials.transitions.equal(expected.transitions)
    assert widget.path == crfviz.viterbi(expected).path


def test_new_potentials_are_drawn_without_edits(widget):
    widget.edits = EDITS
    other = chain(["x", "y", "z"])
    widget.potentials = other
    assert widget.potentials.emissions.equal(other.emissions)
    assert (widget.data["words"], widget.edits["strength"]) == (["x", "y", "z"], 1.0)
    with pytest.raises(crfviz.CrfvizError, match="expected Potentials, got 3"):
        widget.potentials = 3


def test_saved_notebook_has_the_live_file_with_its_edits(widget):
    widget.edits = EDITS
    assert "&quot;strength&quot;:0.5" in widget._repr_html_()


def test_widget_path_is_none_if_every_path_is_forbidden(widget):
    widget.edits = {**EDITS, "emissions": [[0, "A", None], [0, "<b>", None]]}
    assert widget.path is None


@pytest.mark.parametrize(
    "told",
    [
        {},
        {**EDITS, "strength": "much"},
        {**EDITS, "transitions": [["A"]]},
        {**EDITS, "emissions": [[0, "A", math.nan]]},
        {**EDITS, "emissions": 3},
    ],
    ids=str,
)
def test_invalid_edits_are_rejected(told):
    with pytest.raises(crfviz.CrfvizError):
        edits_of(told)
