"""Chains of worksheets: all different, and fit for paper."""

import math
from itertools import pairwise, product

import pytest

from crfviz.chain.decoding.analysis import greedy
from crfviz.commands.worksheet import variants
from crfviz.exceptions import CrfvizError


def scored(chain):
    """Every path with its score, the best first, in plain Python."""
    e, w, s, f = (table.tolist() for table in chain.scores())
    paths = []
    for path in product(range(3), repeat=4):
        score = s[path[0]] + f[path[-1]] + sum(e[t][k] for t, k in enumerate(path))
        paths.append((score + sum(w[j][k] for j, k in pairwise(path)), list(path)))
    return sorted(paths, reverse=True)


@pytest.mark.parametrize("seed", [0, 7])
def test_worksheet_variants_have_no_ties_or_underflow_and_defeat_greedy(seed):
    for chain in variants(seed, 30):
        (best, path), (second, _), *_, (worst, _) = scored(chain)
        assert best - second >= 0.5
        assert math.exp(worst) > 1e-30
        assert path != greedy(chain, "independent")
        assert path != greedy(chain, "left_to_right")
        for table in chain.scores():
            assert (table * 2 == (table * 2).round()).all()
        for t in range(1, 4):  # of the best prefixes into a cell there is one
            for k in range(3):
                prefixes = scored_prefixes(chain, t, k)
                assert prefixes[0] - prefixes[1] >= 0.5


def scored_prefixes(chain, t, k):
    """The best score into tag k at word t by way of each tag before, the best first."""
    e, w, s, _ = (table.tolist() for table in chain.scores())
    by_tag = {}
    for path in product(range(3), repeat=t):
        score = s[path[0]] + sum(e[i][j] for i, j in enumerate(path))
        score += sum(w[i][j] for i, j in pairwise([*path, k]))
        by_tag[path[-1]] = max(by_tag.get(path[-1], -math.inf), score)
    return sorted(by_tag.values(), reverse=True)


def as_numbers(chains):
    return [[table.tolist() for table in chain.scores()] for chain in chains]


def test_variants_depend_only_on_the_seed():
    assert as_numbers(variants(7, 5)) == as_numbers(variants(7, 30))[:5]
    assert as_numbers(variants(8, 5)) != as_numbers(variants(7, 5))
    every = as_numbers(variants(7, 60))
    assert all(first != second for first, second in pairwise(sorted(every)))


@pytest.mark.parametrize("students", [0, 1001, 1.5])
def test_invalid_number_of_students_is_rejected(students):
    with pytest.raises(CrfvizError, match="students must be a"):
        variants(7, students)
