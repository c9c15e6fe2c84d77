"""Sets of paths near the best one, against enumeration of all paths."""

import math
from itertools import pairwise

import pytest

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.path_sets import MAX_PATHS, Calibration, path_set
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import random_chain
from tests.unit.chain.questions.test_costs import forbidding_chain

WITHIN = (0.0, 0.5, 1.5, 4.0, 40.0, math.inf)


def members(chain, within):
    best = oracle.best_score(chain)
    return [path for path, score in oracle.allowed(chain) if score >= best - within - 1e-10]


@pytest.mark.parametrize("seed", range(25))
def test_path_sets_equal_enumeration(seed):
    chain = forbidding_chain(seed) if seed % 2 else random_chain(seed, 1 + seed % 6, 4)
    if not oracle.allowed(chain):
        with pytest.raises(NoPathError):
            path_set(chain, 1.0)
        return
    for within in WITHIN:
        expected, found = members(chain, within), path_set(chain, within)
        assert [tuple(path.tags) for path in found.paths] == expected[:MAX_PATHS]
        assert found.num_paths == (len(expected) if len(expected) <= MAX_PATHS else None)
        for t, tags in enumerate(found.tags):
            assert tags == sorted({path[t] for path in expected})
        for t, steps in enumerate(found.steps):
            assert steps == sorted({tuple(path[t : t + 2]) for path in expected})
        assert len(found.steps) == chain.num_tokens - 1


def test_path_at_the_very_border_is_in_the_set():
    chain = random_chain(3, 5, 4)
    best = oracle.best_score(chain)
    for rank, (path, score) in enumerate(oracle.allowed(chain)[:40]):
        found = path_set(chain, best - score)
        assert found.num_paths == rank + 1
        assert tuple(found.paths[-1].tags) == path


def test_ties_belong_to_the_set():
    coin = Potentials([[0.1 + 0.2, 0.3]] * 5, [[0.0, 0.0]] * 2)
    found = path_set(coin, 0.0)
    assert (found.num_paths, found.tags) == (32, [[0, 1]] * 5)
    assert path_set(Potentials([[0.0, 0.0]] * 6, [[0.0, 0.0]] * 2), 0.0).num_paths is None


def test_single_word_has_no_steps():
    found = path_set(Potentials([[1.0, 0.0]], [[0.0, 0.0]] * 2, tags=["A", "B"]), 1.0)
    assert (found.steps, found.tags[0].names) == ([], ["A", "B"])


@pytest.mark.parametrize("within", [-0.1, math.nan, "1", None, -math.inf], ids=str)
def test_wrong_distance_is_refused(within):
    with pytest.raises(CrfvizError, match="within must be a finite number of at least 0"):
        path_set(random_chain(0, 2, 2), within)


@pytest.mark.parametrize("seed", range(25))
def test_calibrated_sets_equal_enumeration(seed):
    chain = random_chain(seed, 1 + seed % 5, 4)
    near = Calibration(0.9, "sentences", 3.0, 10).sets(chain)
    expected = members(chain, 3.0)
    assert near.abstains == (len(expected) > MAX_PATHS)
    assert [tuple(path.tags) for path in near.paths] == expected[:MAX_PATHS]
    assert near.tags == [sorted({path[t] for path in expected}) for t in range(chain.num_tokens)]

    marginals, least = oracle.marginals(chain), 0.15 + seed / 50
    words = Calibration(0.9, "words", least, 10).sets(chain)
    tags = [
        [tag for tag in range(4) if marginals.get((t, tag), 0.0) >= least]
        for t in range(chain.num_tokens)
    ]
    assert (words.tags, words.abstains) == (tags, False)
    through = [
        path
        for path, _ in oracle.allowed(chain)
        if all(tag in of for tag, of in zip(path, tags, strict=True))
    ]
    assert [tuple(path.tags) for path in words.paths] == through[:MAX_PATHS]


def test_sets_without_any_path_raise_no_path_error():
    walled = Potentials([[0.0, 0.0]] * 2, [[-math.inf] * 2] * 2)
    for of in ("sentences", "words"):
        with pytest.raises(NoPathError):
            Calibration(0.9, of, 0.5, 10).sets(walled)


def test_paths_are_pairwise_different():
    found = path_set(random_chain(1, 6, 4), 40.0).paths
    assert len({tuple(path.tags) for path in found}) == len(found) == MAX_PATHS
    assert all(a.score >= b.score for a, b in pairwise(found))
