"""Decoders against programs in plain Python; one call for all tables, also without a path."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from crfviz.chain.decoding.analysis import (
    analyse,
    beams,
    greedy,
    greedy_paths,
    likeliest,
    max_marginal,
)
from crfviz.chain.decoding.viterbi import best_path, best_paths, viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples, random_chain

INF = math.inf


def in_turn(potentials):
    """Left to right as one would do it by hand: (path, True if it never ran into a wall)."""
    T, K = potentials.num_tokens, potentials.num_tags
    emissions = potentials.emissions.tolist()
    steps = potentials.transitions.expand(T - 1, K, K).tolist()
    path, free = [], True
    for t in range(T):
        arriving = steps[t - 1][path[-1]] if path else potentials.start.tolist()
        scores = [arriving[k] + emissions[t][k] for k in range(K)]
        if t == T - 1:
            scores = [scores[k] + potentials.end[k].item() for k in range(K)]
        if max(scores) == -INF:
            scores, free = emissions[t], False
        path.append(min(k for k in range(K) if scores[k] >= max(scores) - 1e-9))
    return path, free


@given(chains())
def test_independent_takes_the_best_emission_of_each_word(potentials):
    for scores, tag in zip(potentials.emissions.tolist(), greedy(potentials), strict=True):
        assert scores[tag] == max(scores)
        assert all(score < max(scores) for score in scores[:tag])


@pytest.mark.parametrize("steps", [1, 2999], ids=["one matrix", "a matrix a step"])
def test_greedy_path_of_a_long_sentence_is_the_same_in_a_batch(steps):
    dice = torch.Generator().manual_seed(3)
    emissions = torch.randint(-2, 3, (3000, 7), generator=dice).double()
    transitions = torch.randint(-2, 3, (steps, 7, 7), generator=dice).double()
    transitions[transitions == -2] = -math.inf
    emissions[1500] = -math.inf
    chain = Potentials(emissions, transitions if steps > 1 else transitions[0])
    alone, *others = [greedy_paths(chains, "left_to_right") for chains in ([chain], [chain] * 2)]
    assert others == [alone * 2]


@given(chains())
def test_left_to_right_commits_to_each_tag_in_turn(potentials):
    path, free = in_turn(potentials)
    assert greedy(potentials, how="left_to_right") == path
    if free:
        assert potentials.score(path) > -INF


@pytest.mark.parametrize("how", ["independent", "left_to_right"])
@pytest.mark.parametrize("score", [0.0, -INF])
def test_equal_or_forbidden_scores_give_the_lowest_tag(how, score):
    assert greedy(Potentials(torch.full((3, 2), score), torch.zeros(2, 2)), how) == [0, 0, 0]


def test_unknown_greedy_method_is_rejected():
    with pytest.raises(CrfvizError, match=r"independent.*left_to_right.*got 'best'"):
        greedy(Potentials([[0.0]], [[0.0]]), "best")


@given(chains(max_tokens=4, max_tags=3))
def test_max_marginal_picks_the_largest_marginal_of_each_word(potentials):
    assume(oracle.allowed(potentials))
    path = max_marginal(potentials)
    assert len(path) == potentials.num_tokens
    marginals = oracle.marginals(potentials)
    for t, tag in enumerate(path):
        largest = max(marginals[t, k] for k in range(potentials.num_tags))
        assert marginals[t, tag] >= largest - 1e-9


def test_max_marginal_path_may_be_forbidden():
    """Tag 0 has half of the probability at each word, but never at both."""
    joint = torch.tensor([[0.0, 0.25, 0.25], [0.26, 0.0, 0.0], [0.24, 0.0, 0.0]])
    potentials = Potentials(torch.zeros(2, 3), joint.log())
    assert viterbi(potentials).path == [1, 0]
    assert max_marginal(potentials) == [0, 0]
    assert potentials.score([0, 0]) == -INF


def test_marginals_that_differ_by_rounding_give_the_lowest_tag():
    marginals = torch.tensor([[0.1, 0.45, 0.45 + 1e-16], [0.5, 0.5, 0.0]], dtype=torch.float64)
    assert likeliest(marginals) == [1, 0]
    assert max_marginal(Potentials(torch.zeros(5, 3), torch.zeros(3, 3))) == [0] * 5


def beam(chain, width):
    return beams([chain], width)[0]


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
def test_beam_search_equals_search_over_whole_prefixes(width):
    for seed in range(40):
        chain = random_chain(seed, 7, 5)
        assert beam(chain, width) == searched(chain, width)
        if width == 1:
            assert beam(chain, 1) == greedy(chain, "left_to_right")


def test_beam_width_below_one_is_rejected():
    with pytest.raises(CrfvizError, match="width must be at least 1, got 0"):
        beam(random_chain(0, 7, 5), 0)


def test_wider_beam_makes_fewer_search_errors():
    several = [random_chain(seed, 7, 5) for seed in range(40)]
    wrong = [
        sum(beam(chain, width) != viterbi(chain).path for chain in several) for width in (1, 2, 5)
    ]
    assert wrong[0] > wrong[1] > wrong[2] == 0


@given(chains())
def test_beam_as_wide_as_the_tag_set_finds_a_best_path(chain):
    best = oracle.best_score(chain)
    path = beam(chain, chain.num_tags)
    assert len(path) == chain.num_tokens
    if best > -math.inf:
        assert oracle.paths(chain)[tuple(path)] == pytest.approx(best, abs=1e-9)


def test_beam_at_a_dead_end_takes_the_best_emission():
    wall = [[-math.inf, 0.0], [0.0, 0.0]]
    chain = Potentials([[5.0, 0.0], [0.0, 1.0], [3.0, 0.0]], [[[-math.inf] * 2] * 2, wall])
    assert beam(chain, 2) == [0, 1, 0]


@given(st.lists(chains(max_tokens=5, max_tags=3), min_size=1, max_size=4), st.integers(1, 3))
def test_batched_decoders_equal_single_decoding(several, width):
    alike = [chain for chain in several if chain.num_tags == several[0].num_tags]
    assert beams(alike, width) == [beam(chain, width) for chain in alike]
    alike = [chain for chain in alike if oracle.allowed(chain)]
    if alike:
        assert best_paths(alike) == [best_path(chain) for chain in alike]


def test_batch_with_shared_transitions_equals_single_decoding():
    same = random_chain(0, 7, 5)
    parts = same.transitions, same.start, same.end
    several = [Potentials(random_chain(seed, seed, 5).emissions, *parts) for seed in (3, 1, 9, 4)]
    assert beams(several, 2) == [beam(chain, 2) for chain in several]
    assert best_paths(several) == [best_path(chain) for chain in several]
    dead = several[1].with_emission(0, 0, -math.inf).pin({0: 0})
    with pytest.raises(NoPathError, match="position 0"):
        best_paths([*several, dead])


def same(first, second):
    """Equal to the last bit, with NaN nowhere."""
    return torch.equal(first, second)


@fewer_examples
@given(chains(max_tokens=4, max_tags=4))
def test_analysis_parts_equal_their_own_functions(potentials):
    analysis = analyse(potentials)
    tables = forward_backward(potentials)
    assert analysis.potentials is potentials
    for name in ("log_alpha", "log_beta", "marginals", "edge_marginals"):
        assert same(getattr(analysis.forward_backward, name), getattr(tables, name)), name
    assert analysis.forward_backward.log_partition == tables.log_partition
    assert analysis.forward_backward.entropy == tables.entropy
    assert analysis.greedy == greedy(potentials, "independent")
    assert analysis.left_to_right == greedy(potentials, "left_to_right")
    if oracle.best_score(potentials) == -INF:
        assert (analysis.viterbi, analysis.max_marginal) == (None, None)
        assert (analysis.paths["viterbi"], analysis.paths["max_marginal"]) == (None, None)
        return
    best = viterbi(potentials)
    assert analysis.viterbi.path == best.path
    assert (analysis.viterbi.score, analysis.viterbi.ties) == (best.score, best.ties)
    assert analysis.viterbi.probability == best.probability
    assert same(analysis.best, best.best)
    assert same(analysis.backpointers, best.backpointers)
    assert analysis.max_marginal == max_marginal(potentials)
    assert analysis.paths == {
        "greedy": analysis.greedy,
        "left_to_right": analysis.left_to_right,
        "viterbi": best.path,
        "max_marginal": analysis.max_marginal,
    }


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_best_prefixes_exist_even_without_a_complete_path(potentials):
    walled = replace(potentials, end=torch.full((potentials.num_tags,), -INF))
    analysis = analyse(walled)
    assert analysis.viterbi is None
    assert same(analysis.backpointers, analyse(potentials).backpointers)
    for t, row in enumerate(analysis.best.tolist()):
        expected = [oracle.best_prefix(walled, t, k) for k in range(potentials.num_tags)]
        assert row == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "potentials",
    [
        Potentials(torch.full((1, 1), -INF), torch.zeros(1, 1)),
        Potentials(torch.full((3, 2), -INF), torch.zeros(2, 2)),
        Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF)),
        Potentials(torch.zeros(3, 2), torch.full((2, 2, 2), -INF)),
        Potentials(torch.zeros(2, 2), torch.zeros(2, 2), [-INF, -INF]),
    ],
    ids=["one cell", "emissions", "transitions", "transitions per step", "start"],
)
def test_analysis_without_a_path_raises_nothing(potentials):
    analysis = analyse(potentials)
    assert (analysis.viterbi, analysis.max_marginal) == (None, None)
    assert analysis.forward_backward.log_partition == -INF
    assert analysis.forward_backward.marginals.sum() == 0
    assert analysis.best.shape == analysis.backpointers.shape == potentials.emissions.shape
    assert len(analysis.greedy) == len(analysis.left_to_right) == potentials.num_tokens


def test_analysis_of_potentials_with_gradients_is_detached():
    emissions = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    transitions = torch.full((2, 2), -INF, dtype=torch.float64)
    for chain in (Potentials(emissions, transitions.exp()), Potentials(emissions, transitions)):
        analysis = analyse(chain)
        assert not analysis.best.requires_grad
        assert not analysis.forward_backward.marginals.requires_grad


def near(first, second):
    return first == second or abs(first - second) < 1e-9


@fewer_examples
@given(chains(max_tokens=5, max_tags=3), st.data())
def test_window_has_the_numbers_of_the_whole_sentence(potentials, data):
    T, K = potentials.emissions.shape
    first = data.draw(st.integers(0, T - 1))
    length = data.draw(st.integers(1, T - first))
    whole = analyse(potentials)
    window = whole.window(first, length)
    assert window.sentence is whole
    assert window.words == whole.words[first : first + length]
    tables, masses = window.forward_backward, oracle.marginals(potentials)
    pairs = oracle.edge_marginals(potentials)
    assert near(tables.log_partition, oracle.log_partition(potentials))
    for t in range(length):
        for k in range(K):
            at = first + t
            assert near(tables.log_alpha[t, k].item(), oracle.log_alpha(potentials, at, k))
            assert near(tables.log_beta[t, k].item(), oracle.log_beta(potentials, at, k))
            assert near(tables.marginals[t, k].item(), masses.get((at, k), 0.0))
            assert near(window.best[t, k].item(), oracle.best_prefix(potentials, at, k))
            if t + 1 < length:
                expected = [pairs.get((at, (k, after)), 0.0) for after in range(K)]
                assert all(map(near, tables.edge_marginals[t, k].tolist(), expected))
    for name, path in whole.paths.items():
        assert window.paths[name] == (path and path[first : first + length])
    if whole.viterbi is not None:
        assert window.viterbi.score == whole.viterbi.score
        assert window.viterbi.probability == whole.viterbi.probability
