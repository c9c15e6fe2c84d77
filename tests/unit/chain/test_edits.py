"""Edits: put on, taken off, counted."""

import math

import pytest
import torch

from crfviz.chain.edits import END, START, Edits
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ScoreError, ShapeError, UnknownTagError
from tests.support.close import assert_close

INF = math.inf
TAGS = ("DET", "NOUN")


def trained(**changes):
    scores = {
        "emissions": torch.ones(2, 2),
        "transitions": [[1.0, 2.0], [3.0, 4.0]],
        "start": [5.0, 6.0],
        "end": [7.0, 8.0],
        "tags": TAGS,
    }
    return Potentials(**(scores | changes))


def test_no_edits_change_nothing():
    before, after = trained(), Edits().apply(trained())
    for name in ("emissions", "transitions", "start", "end"):
        assert torch.equal(getattr(before, name), getattr(after, name))
    assert not Edits()
    assert len(Edits()) == 0


def test_cells_replace_trained_scores():
    edits = (
        Edits()
        .with_transition("DET", "NOUN", -INF)
        .with_transition(START, "NOUN", 0.5)
        .with_transition("DET", END, -0.5)
        .with_emission(1, "DET", 9.0)
    )
    after = edits.apply(trained())
    assert after.transitions.tolist() == [[1.0, -INF], [3.0, 4.0]]
    assert after.start.tolist() == [5.0, 0.5]
    assert after.end.tolist() == [-0.5, 8.0]
    assert after.emissions.tolist() == [[1.0, 1.0], [9.0, 1.0]]
    assert len(edits) == 4


def test_strength_scales_the_trained_scores_below_the_cells():
    edits = Edits(transitions={("DET", "NOUN"): 10.0}, strength=0.5)
    after = edits.apply(trained())
    assert after.transitions.tolist() == [[0.5, 10.0], [1.5, 2.0]]
    assert after.start.tolist() == [2.5, 3.0]
    assert after.end.tolist() == [3.5, 4.0]
    assert len(edits) == 2


def test_edits_behind_the_end_of_the_sentence_wait():
    edits = Edits().with_emission(2, "DET", 9.0)
    assert torch.equal(edits.apply(trained()).emissions, trained().emissions)
    longer = trained(emissions=torch.ones(3, 2))
    assert edits.apply(longer).emissions[2].tolist() == [9.0, 1.0]


def test_a_second_edit_of_a_cell_replaces_the_first():
    edits = Edits().with_emission(0, "DET", 1.0).with_emission(0, "DET", 2.0)
    assert edits.emissions == {(0, "DET"): 2.0}
    assert len(edits) == 1


def test_without_takes_off_one_cell():
    edits = Edits().with_transition("DET", "NOUN", 1.0).with_emission(0, "DET", 2.0)
    assert edits.without(("DET", "NOUN")).transitions == {}
    assert edits.without((0, "DET")) == Edits().with_transition("DET", "NOUN", 1.0)
    assert edits.without((7, "DET")) == edits
    assert len(edits) == 2


def test_dropped_constraints_count_as_an_edit():
    assert len(Edits(constrained=False)) == 1
    assert Edits(constrained=False)


def test_unknown_tags_are_named():
    with pytest.raises(UnknownTagError, match="got 'VERB'"):
        Edits().with_transition("DET", "VERB", 1.0).apply(trained())
    with pytest.raises(UnknownTagError, match="got 'VERB'"):
        Edits().with_emission(0, "VERB", 1.0).apply(trained())


@pytest.mark.parametrize("score", [math.nan, INF, 1e300])
def test_bad_scores_are_named(score):
    with pytest.raises(ScoreError, match=r"the score of \('DET', 'NOUN'\)"):
        Edits().with_transition("DET", "NOUN", score)
    with pytest.raises(ScoreError, match=r"the score of \('DET', 'NOUN'\) .* got '1'"):
        Edits({("DET", "NOUN"): "1"})
    for odd in ("NOUN", None, [("DET", "NOUN")]):
        with pytest.raises(ShapeError, match="emissions must map cells to scores, got"):
            Edits(emissions=odd)
    with pytest.raises(ScoreError, match="strength must be finite and not negative, got None"):
        Edits(strength=None)
    with pytest.raises(ScoreError, match=r"the score of \(0, 'DET'\)"):
        Edits(emissions={(0, "DET"): score})


@pytest.mark.parametrize("strength", [-0.1, math.nan, INF])
def test_bad_strength_is_named(strength):
    with pytest.raises(ScoreError, match="strength"):
        Edits(strength=strength)


def test_edits_can_reach_another_chain():
    before = trained(transitions=[[1.0, -INF], [3.0, 4.0]])
    wanted = trained(
        transitions=[[1.25, -INF], [3.0 + 1e-7, 4.0]], start=[5.0, 6.0 + 1 / 3], end=[7.0, -8.0]
    )
    own = Edits({("DET", "DET"): 1.0}, {(0, "DET"): 1.0}, 0.5)
    edits = own.reaching(before, wanted)
    assert edits.transitions == {
        ("DET", "DET"): 1.25,
        (START, "NOUN"): 6.333333,
        ("NOUN", END): -8.0,
    }
    assert (edits.emissions, edits.strength) == (own.emissions, own.strength)
    reached = Edits().reaching(before, wanted).apply(before)
    for name in ("transitions", "start", "end"):
        assert_close(getattr(reached, name), getattr(wanted, name), atol=5e-7, rtol=0)


def test_edits_reach_no_chain_with_a_matrix_for_each_step():
    per_step = trained(transitions=torch.zeros(1, 2, 2))
    with pytest.raises(ShapeError, match="one transition matrix"):
        Edits().reaching(trained(), per_step)
