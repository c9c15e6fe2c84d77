"""The smallest changes that flip the decode, against all changes of an enumerated chain."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.edits import value_of
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.flips import smallest_change_for, smallest_flips
from crfviz.chain.questions.tipping import tipping_points
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.icecream import ice_cream
from tests.support.strategies import chains, fewer_examples, random_chain
from tests.support.weights import all_weights, breakpoints, changed, lines, uses

INF = math.inf
PAIR = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]], tags=["A", "B"])


def one_matrix(**sizes):
    """Chains whose transitions are the same at each step, and which have a path."""
    return chains(**sizes).filter(
        lambda chain: chain.transitions.dim() == 2 and oracle.allowed(chain)
    )


def sizes_of_all_flips(chain):
    """(size, weight, direction) of every finite change that lets another path draw level."""
    best = viterbi(chain).path
    top = oracle.best_score(chain)
    for weight in all_weights(chain):
        if value_of(chain, weight) == -INF:
            continue
        counts = {path: uses(weight, path) for path, _ in oracle.allowed(chain)}
        used = counts[tuple(best)]
        for direction in (1, -1):
            needs = [
                (top - score) / abs(counts[path] - used)
                for path, score in oracle.allowed(chain)
                if direction * (counts[path] - used) > 0
            ]
            if needs:
                yield min(needs), weight, direction


@fewer_examples
@given(one_matrix(max_tokens=4, max_tags=3))
def test_all_flips_equal_enumeration(chain):
    expected = {(weight, way): size for size, weight, way in sizes_of_all_flips(chain)}
    best = viterbi(chain).path
    found = {}
    for flip in smallest_flips(chain, 1000):
        way = 1 if uses(flip.weight, flip.path) > uses(flip.weight, best) else -1
        assert (flip.weight, way) not in found
        assert way * flip.change >= 0
        assert flip.trained == value_of(chain, flip.weight)
        assert flip.value == flip.trained + flip.change
        found[flip.weight, way] = abs(flip.change)
    assert found == pytest.approx(expected, abs=1e-9)
    assert list(found.values()) == sorted(found.values())
    for limit in (1, 3, 10):
        fewer = [abs(flip.change) for flip in smallest_flips(chain, limit)]
        assert fewer == pytest.approx(sorted(expected.values())[:limit], abs=1e-9)


@fewer_examples
@given(one_matrix(max_tokens=4, max_tags=3))
def test_path_flips_just_beyond_the_value_and_not_before(chain):
    best = viterbi(chain).path
    for flip in smallest_flips(chain, 5):
        assert flip.changed == [t for t in range(len(best)) if best[t] != flip.path[t]]
        assert flip.changed
        at = oracle.paths(changed(chain, flip.weight, flip.value))
        assert at[tuple(flip.path)] == pytest.approx(max(at.values()), abs=1e-9)
        assert at[tuple(best)] == pytest.approx(max(at.values()), abs=1e-9)
        way = 1 if uses(flip.weight, flip.path) > uses(flip.weight, best) else -1
        beyond = viterbi(changed(chain, flip.weight, flip.value + way * 1e-7)).path
        assert uses(flip.weight, beyond) == uses(flip.weight, flip.path)
        assert beyond == flip.path
        if abs(flip.change) > 1e-6:
            short = flip.trained + 0.999 * flip.change
            assert viterbi(changed(chain, flip.weight, short)).path == best


def brute_change_for(chain, position, tag):
    """The least change of any one weight beyond which Viterbi has the tag."""
    sizes = []
    for weight in all_weights(chain):
        trained = value_of(chain, weight)
        if trained == -INF:
            continue
        corners = [value - trained for value in breakpoints(lines(chain, weight))]
        for way in (1, -1):
            ahead = sorted({0.0, *(way * c for c in corners if way * c > -1e-12)})
            for size, following in pairwise([*ahead, ahead[-1] + 10.0]):
                if following - size < 1e-10:
                    continue
                there = changed(chain, weight, trained + way * (size + following) / 2)
                if viterbi(there).path[position] == tag:
                    sizes.append(max(0.0, size))
                    break
    return min(sizes)


@fewer_examples
@given(one_matrix(max_tokens=4, max_tags=3), st.data())
def test_smallest_change_for_a_tag_equals_enumeration(chain, data):
    position = data.draw(st.integers(0, chain.num_tokens - 1))
    tag = data.draw(st.sampled_from(sorted({p[position] for p, _ in oracle.allowed(chain)})))
    best = viterbi(chain).path
    flip = smallest_change_for(chain, position, tag)
    if best[position] == tag:
        assert flip is None
        return
    assert flip.path[position] == tag
    assert abs(flip.change) == pytest.approx(brute_change_for(chain, position, tag), abs=1e-8)
    gap = oracle.best_score(chain) - max(s for p, s in oracle.allowed(chain) if p[position] == tag)
    assert abs(flip.change) <= gap + 1e-9
    edges = [edge for low, high, _ in tipping_points(chain, flip.weight) for edge in (low, high)]
    assert min(abs(flip.value - edge) for edge in edges) <= 1e-9


def test_smallest_change_skips_flips_of_other_words():
    """More of B -> B first turns the first words, then all; only that reaches the last word."""
    emissions = [[0.0, -1.0], [0.0, -1.0], [0.0, 0.0], [0.0, -9.0], [0.0, -3.0]]
    chain = Potentials(emissions, torch.zeros(2, 2), tags=["A", "B"])
    assert brute_change_for(chain, 4, 1) == pytest.approx(3.0, abs=1e-9)
    assert abs(smallest_change_for(chain, 4, "B").change) == pytest.approx(3.0, abs=1e-9)


def test_tied_path_needs_no_change():
    first = smallest_flips(ice_cream(), 1)[0]
    assert first.change == 0.0
    assert first.changed == [26]


def test_equal_changes_are_in_the_order_of_weights():
    found = [(flip.weight, flip.change) for flip in smallest_flips(PAIR, 20)]
    assert found[:4] == [
        (("transition", 0, 0), -0.5),
        (("transition", 0, 1), 0.5),
        (("transition", 1, 1), 0.5),
        (("start", 0), -0.5),
    ]


def test_single_word_flips_by_emission_start_or_end():
    chain = Potentials([[0.0, 1.0]], torch.zeros(0, 2, 2))
    assert {flip.weight[0] for flip in smallest_flips(chain, 20)} == {"start", "end", "emission"}
    assert smallest_change_for(chain, 0, 0).change == 1.0


def test_repeated_step_matrix_flips_like_a_shared_matrix():
    shared = PAIR.transitions.expand(1, 2, 2)
    steps = Potentials(PAIR.emissions, shared, tags=["A", "B"])
    assert smallest_flips(steps, 30) == smallest_flips(PAIR, 30)


def test_flips_with_transitions_per_step_are_rejected():
    chain = Potentials(torch.zeros(3, 2), torch.arange(8.0).view(2, 2, 2))
    with pytest.raises(CrfvizError, match="expected the same transitions at each step"):
        smallest_flips(chain, 3)
    with pytest.raises(CrfvizError, match="expected the same transitions at each step"):
        smallest_change_for(chain, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_flips_of_longer_sentences_equal_tipping_points(seed):
    """Where a transition is used often, other words flip long before the wanted one does."""
    chain = random_chain(seed, 12, 4)
    best = viterbi(chain).path
    weights = {weight: tipping_points(chain, weight) for weight in all_weights(chain)}
    for tag in {0, 1, 2, 3} - {best[5]}:
        sizes = []
        for weight, found in weights.items():
            trained = value_of(chain, weight)
            for low, high, path in found:
                if path[5] == tag:
                    sizes.append(low - trained if low > trained else trained - high)
        flip = smallest_change_for(chain, 5, tag)
        assert abs(flip.change) == pytest.approx(min(sizes), abs=1e-9)


def test_flips_of_forty_words_and_seventeen_tags_reach_their_paths():
    chain = random_chain(0, 40, 17)
    flips = [*smallest_flips(chain, 10), *(smallest_change_for(chain, 20, tag) for tag in (1, 9))]
    for flip in flips:
        way = math.copysign(1e-7, flip.change)
        assert viterbi(changed(chain, flip.weight, flip.value + way)).path == flip.path
    assert [flip.path[20] for flip in flips[-2:]] == [1, 9]


def test_change_for_an_impossible_tag_raises_no_path_error():
    wall = Potentials([[0.0, -INF], [0.0, 0.0]], torch.zeros(2, 2), tags=["A", "B"])
    with pytest.raises(NoPathError, match="no allowed path has the tag B at position 0"):
        smallest_change_for(wall, 0, "B")
