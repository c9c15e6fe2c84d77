"""The transition matrix as a table, for all steps or for one of them."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ShapeError
from crfviz.views.frames.chains import transition_frame
from tests.support.strategies import chains, fewer_examples

INF = math.inf

CHAIN = Potentials(
    [[0.0, 0.0], [0.0, 0.0]],
    [[1.0, 2.0], [3.0, -INF]],
    [5.0, 6.0],
    [7.0, 8.0],
    tags=["DET", "NOUN"],
)


def test_rows_are_from_tags_and_columns_are_to_tags():
    frame = transition_frame(CHAIN)
    assert list(frame.index) == ["START", "DET", "NOUN"]
    assert list(frame.columns) == ["DET", "NOUN", "END"]
    assert frame.loc["START", ["DET", "NOUN"]].tolist() == [5.0, 6.0]
    assert frame.loc["DET"].tolist() == [1.0, 2.0, 7.0]
    assert frame.loc["NOUN"].tolist() == [3.0, -INF, 8.0]
    assert math.isnan(frame.loc["START", "END"])


@fewer_examples
@given(chains(max_tokens=4, max_tags=4))
def test_every_step_shows_its_own_matrix(potentials):
    steps = potentials.num_tokens - 1
    matrices = potentials.transitions.expand(steps, -1, -1)
    for step in range(steps):
        frame = transition_frame(potentials, step)
        assert frame.iloc[1:, :-1].to_numpy().tolist() == matrices[step].tolist()
        assert frame.iloc[0, :-1].tolist() == potentials.start.tolist()
        assert frame.iloc[1:, -1].tolist() == potentials.end.tolist()


@pytest.mark.parametrize(("tokens", "step"), [(3, -1), (3, 2), (1, 1)])
def test_step_outside_the_sentence_is_rejected(tokens, step):
    chain = Potentials(torch.zeros(tokens, 2), torch.zeros(tokens - 1, 2, 2))
    with pytest.raises(ShapeError, match=rf"step must be 0 to {max(0, tokens - 2)}, got {step}"):
        transition_frame(chain, step)


def test_single_word_shows_start_and_end_without_a_step():
    frame = transition_frame(Potentials([[0.0, 0.0]], torch.zeros(0, 2, 2), [1.0, 2.0], [3.0, 4.0]))
    assert frame.loc["START", ["0", "1"]].tolist() == [1.0, 2.0]
    assert frame["END"].tolist()[1:] == [3.0, 4.0]
    assert frame.iloc[1:, :-1].isna().all(axis=None)


def test_single_word_shows_the_unused_shared_matrix():
    one = Potentials([[0.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]])
    assert transition_frame(one).iloc[1:, :-1].to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_table_is_a_copy_even_if_scores_require_gradients():
    wants = Potentials(CHAIN.emissions, CHAIN.transitions.requires_grad_(), CHAIN.start, CHAIN.end)
    frame = transition_frame(wants)
    frame.iloc[1, 0] = 99.0
    assert wants.transitions[0, 0].item() == 1.0
