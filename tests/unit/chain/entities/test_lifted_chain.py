"""The chain with orphans: the same paths, each exactly once, with tags that say what they are."""

import math

import pytest
from hypothesis import given

from crfviz.chain.entities.probability import lift
from crfviz.chain.potentials import Potentials
from tests.support import oracle
from tests.support.bio import bio_chains, entities


@given(bio_chains(max_tokens=3))
def test_every_path_is_there_once_with_its_score(chain):
    lifted = lift(chain)
    large = Potentials(lifted.emissions, lifted.steps, lifted.start, lifted.end)
    inside = [k for k, name in enumerate(chain.tags) if name.startswith("I-")]
    source = [*range(chain.num_tags), *inside]
    found = {}
    for path, score in oracle.allowed(large):
        original = tuple(source[k] for k in path)
        assert original not in found
        found[original] = score
        covered = {
            t
            for _, first, last in entities([chain.tags[k] for k in original])
            for t in range(first, last + 1)
        }
        assert {t for t, k in enumerate(path) if lifted.in_entity[k]} == covered
    assert found == pytest.approx(dict(oracle.allowed(chain)), abs=1e-9)


def test_tags_that_are_not_bio_are_outside():
    lifted = lift(
        Potentials([[0.0, 1.0]] * 2, [[0.0, 0.0], [0.0, -math.inf]], tags=["NOUN", "INTJ"])
    )
    assert lifted.in_entity == [False, False]
    assert lifted.steps.tolist() == [[[0.0, 0.0], [0.0, -math.inf]]]
