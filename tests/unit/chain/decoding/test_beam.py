import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.decoders import beam, beams, greedy
from crfviz.chain.decoding.viterbi import best_path, best_paths, viterbi
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, random_chain


def searched(chain, width):
    """Beam search with whole prefixes and dictionaries, in plain Python."""
    emissions, transitions = chain.emissions.tolist(), chain.transitions.tolist()
    start, end = chain.start.tolist(), chain.end.tolist()
    last = len(emissions) - 1

    def gain(t, tag):
        return emissions[t][tag] + (end[tag] if t == last else 0.0)

    prefixes = {(tag,): start[tag] + gain(0, tag) for tag in range(len(start))}
    for t in range(1, len(emissions)):
        survivors = sorted(prefixes, key=prefixes.get, reverse=True)[:width]
        merged = {}
        for prefix in survivors:
            for tag in range(len(start)):
                score = prefixes[prefix] + transitions[prefix[-1]][tag] + gain(t, tag)
                if score > merged.get(tag, ((), -math.inf))[1]:
                    merged[tag] = ((*prefix, tag), score)
        prefixes = dict(merged.values())
    return list(max(prefixes, key=prefixes.get))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 9])
def test_it_is_beam_search_over_whole_prefixes(width):
    for seed in range(40):
        chain = random_chain(seed, 7, 5)
        assert beam(chain, width) == searched(chain, width)
        if width == 1:
            assert beam(chain, 1) == greedy(chain, "left_to_right")


def test_no_width_is_refused():
    with pytest.raises(CrfvizError, match="width must be at least 1, got 0"):
        beam(random_chain(0, 7, 5), 0)


def test_it_makes_search_errors_that_a_wider_beam_does_not():
    several = [random_chain(seed, 7, 5) for seed in range(40)]
    wrong = [
        sum(beam(chain, width) != viterbi(chain).path for chain in several) for width in (1, 2, 5)
    ]
    assert wrong[0] > wrong[1] > wrong[2] == 0


@given(chains())
def test_as_wide_as_there_are_tags_it_finds_a_best_path(chain):
    best = oracle.best_score(chain)
    path = beam(chain, chain.num_tags)
    assert len(path) == chain.num_tokens
    if best > -math.inf:
        assert oracle.paths(chain)[tuple(path)] == pytest.approx(best, abs=1e-9)


def test_a_dead_end_is_left_by_the_best_emission():
    wall = [[-math.inf, 0.0], [0.0, 0.0]]
    chain = Potentials([[5.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [[[-math.inf] * 2] * 2, wall])
    assert beam(chain, 2) == [0, 1, 0]


@given(st.lists(chains(max_tokens=5, max_tags=3), min_size=1, max_size=4), st.integers(1, 3))
def test_together_they_take_the_same_paths_as_alone(several, width):
    alike = [chain for chain in several if chain.num_tags == several[0].num_tags]
    assert beams(alike, width) == [beam(chain, width) for chain in alike]
    alike = [chain for chain in alike if oracle.allowed(chain)]
    if alike:
        assert best_paths(alike) == [best_path(chain) for chain in alike]


def test_chains_that_share_their_transitions_take_the_same_paths_as_alone():
    same = random_chain(0, 7, 5)
    parts = same.transitions, same.start, same.end
    several = [Potentials(random_chain(seed, seed, 5).emissions, *parts) for seed in (3, 1, 9, 4)]
    assert beams(several, 2) == [beam(chain, 2) for chain in several]
    assert best_paths(several) == [best_path(chain) for chain in several]
    dead = several[1].with_emission(0, 0, -math.inf).pin({0: 0})
    with pytest.raises(NoPathError, match="position 0"):
        best_paths([*several, dead])
