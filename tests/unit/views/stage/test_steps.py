"""Walks as Python tells them: how many steps, and where a link stands."""

import pytest

from crfviz.views.stage.walks import (
    ONE_PICTURE,
    emission_walk,
    forward_backward_walk,
    hmm_walk,
    learning_walk,
    marginal_walk,
    naive_walk,
    paths_at,
    viterbi_walk,
)


@pytest.mark.parametrize(
    ("walk", "steps"),
    [
        (viterbi_walk(possible=True), 10),
        (forward_backward_walk(), 12),
        (emission_walk("emissions"), 6),
        (marginal_walk(["best_1"], ["sample_1"]), 7),
        (learning_walk(), 4),
        (hmm_walk("emissions", "marginals"), 3),
        (ONE_PICTURE, 0),
    ],
)
def test_walk_has_a_step_per_word_and_sweep(walk, steps):
    assert walk.steps(5) == steps
    assert walk.at(steps + 100, 5) == steps
    assert walk.at(-1, 5) == 0
    assert walk.at(1, 5) == min(1, steps)


def test_walks_open_at_their_last_step():
    assert viterbi_walk(possible=True).at(0, 5) == 10
    assert forward_backward_walk().at(0, 5) == 12


def test_walk_without_a_path_has_no_traceback():
    *_, back = viterbi_walk(possible=False).phases
    assert {back.text, back.first, back.last} == {
        "No path is allowed, so there is nothing to trace back."
    }


def test_naive_walk_lists_more_paths_at_each_step():
    assert [paths_at(step, 16) for step in range(naive_walk(16).steps(4) + 1)] == [
        *[0, 1, 2, 3, 10, 16],
        16,
    ]
    assert [paths_at(step, 2) for step in range(naive_walk(2).steps(1) + 1)] == [0, 1, 2, 2]
