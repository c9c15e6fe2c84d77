"""Which scores count as equal, and who wins."""

import pytest
import torch

from crfviz.chain.recursions import TOLERANCE, lowest_best, near_best

INF = torch.inf


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 2.0, 2.0], 1),
        ([2.0, 2.0, 1.0], 0),
        ([-INF, -INF], 0),
        ([-INF, -5.0], 1),
        ([-1e5, -1e5 * (1 + TOLERANCE / 10)], 0),
        ([-1e5 * (1 + TOLERANCE / 10), -1e5], 0),
        ([-1e5 * (1 + TOLERANCE * 10), -1e5], 1),
        ([0.0, TOLERANCE / 10], 0),
        ([0.0, TOLERANCE * 10], 1),
    ],
    ids=[
        "tie above",
        "tie first",
        "nothing allowed",
        "one allowed",
        "last bits, best first",
        "last bits, best second",
        "more than the last bits",
        "last bits around zero",
        "more around zero",
    ],
)
def test_lowest_best(scores, expected):
    assert lowest_best(torch.tensor(scores, dtype=torch.float64), -1) == expected


def test_near_best_marks_all_that_tie():
    scores = torch.tensor([[1.0, 3.0, 3.0], [-INF, -INF, -INF]])
    assert near_best(scores, -1).tolist() == [[False, True, True], [True, True, True]]


def test_dim_is_the_one_that_is_compared():
    scores = torch.tensor([[0.0, 9.0], [1.0, 0.0], [1.0, 9.0]])
    assert lowest_best(scores, 0).tolist() == [1, 0]
    assert lowest_best(scores, 1).tolist() == [1, 0, 1]
