"""What a rule costs, against `re.fullmatch` over all paths."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from crfviz.chain.decoding.viterbi import k_best, viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.pattern_syntax import quoted
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition, pin_probability, restrict, why_not
from crfviz.chain.questions.rules import analyse_match, best_match, match
from crfviz.chain.questions.sensitivity import influence
from crfviz.exceptions import NoPathError
from tests.support import rules

AB = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0]] * 2, tags=["A", "B"])
EVERY_BLOCK = 500  # chains and rules


def random_case(generator):
    """A chain, a rule in both notations, and all its paths with their scores."""
    num_tags = int(generator.integers(1, 5))
    num_tokens = int(generator.integers(1, 7 if num_tags < 4 else 6))
    if generator.random() < 0.02:
        num_tags, num_tokens = 4, 6
    per_step = generator.random() < 0.3
    shapes = [
        (num_tokens, num_tags),
        (num_tokens - 1, num_tags, num_tags) if per_step else (num_tags, num_tags),
        (num_tags,),
        (num_tags,),
    ]
    scale = generator.choice([1.0, 3.0])
    tables = [generator.normal(0, scale, shape) for shape in shapes]
    if generator.random() < 0.3:  # exact sums: many ties
        tables = [np.round(table) for table in tables]
    if generator.random() < 0.4:
        tables = [np.where(generator.random(t.shape) < 0.15, -np.inf, t) for t in tables]
    if generator.random() < 0.1:  # far apart: products of exponentials would underflow
        tables = [np.where(generator.random(t.shape) < 0.3, t - 900.0, t) for t in tables]
    emissions, transitions, start, end = tables
    paths = rules.all_paths(num_tokens, num_tags)
    steps = (
        transitions
        if per_step
        else np.broadcast_to(transitions, (num_tokens - 1, num_tags, num_tags))
    )
    scores = start[paths[:, 0]] + end[paths[:, -1]] + emissions[np.arange(num_tokens), paths].sum(1)
    for t in range(num_tokens - 1):
        scores = scores + steps[t, paths[:, t], paths[:, t + 1]]
    chain = Potentials(*tables, tags=rules.TAGS[:num_tags])
    return chain, rules.random_rule(generator, num_tags), paths, scores


def log_sum(scores):
    best = max(scores, default=-math.inf)
    return best if best == -math.inf else best + math.log(math.fsum(np.exp(scores - best)))


@pytest.mark.rotating
@pytest.mark.parametrize("block", range(10))
def test_match_equals_enumeration_with_re(block):
    generator = np.random.default_rng(block)
    for _ in range(EVERY_BLOCK):
        chain, (ours, theirs), paths, scores = random_case(generator)
        matches = rules.matching(theirs, paths)
        left = scores[matches]
        if not len(left) or left.max() == -np.inf:
            with pytest.raises(NoPathError):
                match(chain, ours)
            continue
        found = match(chain, ours)
        total, rule_total = log_sum(scores), log_sum(left)
        size = max(1.0, abs(rule_total))
        assert abs(found.probability - math.exp(min(0.0, rule_total - total))) < 1e-12 * size, ours
        assert abs(found.log_partition - rule_total) < 1e-12 * size
        assert abs(found.score - left.max()) < 1e-12 * size
        assert abs(found.cost - (scores.max() - left.max())) < 1e-12 * max(size, abs(scores.max()))
        ties = paths[matches][left >= left.max() - 1e-9]
        assert found.path == min(ties.tolist(), key=lambda path: path[::-1])
        assert best_match(chain, ours) == found.path
        weights = np.exp(left - rule_total)
        expected = np.zeros(chain.emissions.shape)
        for t, tags in enumerate(paths[matches].T):
            np.add.at(expected[t], tags, weights)
        assert np.abs(found.marginals.numpy() - expected).max() < 1e-12 * size
        assert found.states.sum(1).numpy() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_constrained_chain_has_only_the_matching_paths(seed):
    generator = np.random.default_rng(seed)
    chain, (ours, theirs), paths, scores = random_case(generator)
    left = scores[rules.matching(theirs, paths)]
    constrained = chain.constrained(ours)
    total = forward_backward(constrained).log_partition
    assert total == pytest.approx(log_sum(left), abs=1e-9)
    if total == -math.inf:
        return
    names = {name.split("·")[0]: k for k, name in enumerate(chain.tag_names)}
    top = k_best(constrained, 50)
    read = [tuple(names[constrained.tag_names[k].split("·")[0]] for k in path.tags) for path in top]
    assert len(set(read)) == len(read) == min(50, int((left > -np.inf).sum()))
    expected = np.sort(left)[::-1][: len(top)]
    assert [path.score for path in top] == pytest.approx(expected, abs=1e-9)
    assert [chain.score(path) for path in read] == pytest.approx(expected, abs=1e-9)


def test_constrained_chain_reuses_tags_that_need_one_copy():
    tags = ["O", "B-X", "I-X"]
    chain = Potentials(torch.zeros(3, 3), torch.zeros(3, 3), tags=tags, tokens=["a", "b", "c"])
    constrained = chain.constrained("(O | B-X I-X*)*")
    assert constrained.tags == tuple(tags)
    assert constrained.tokens == ("a", "b", "c")
    assert torch.isneginf(constrained.transitions).nonzero().tolist() == [[0, 2]]
    assert torch.isneginf(constrained.start).tolist() == [False, False, True]


def test_tag_copies_get_unused_names():
    chain = Potentials(torch.zeros(2, 2), torch.zeros(2, 2), tags=["A", "A·0"])
    assert chain.constrained(". .").tags == ("A··1", "A··2", "A·0··1", "A·0··2")


def test_rule_matching_every_sentence_changes_nothing():
    chain, *_ = random_case(np.random.default_rng(3))
    found, best = match(chain, ".*"), viterbi(chain)
    assert (found.probability, found.cost, found.path) == (1.0, 0.0, best.path)
    assert torch.allclose(found.marginals, forward_backward(chain).marginals, atol=1e-12)


def test_match_returns_the_automaton_state_distribution():
    found = match(AB, "B* A .*")  # an A somewhere: seven of eight paths
    assert found.probability == pytest.approx(7 / 8)
    assert found.states[:, 1].tolist() == pytest.approx([4 / 7, 6 / 7, 1.0])


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "no sentence of 3 words can match the rule "),
        ("A{4}", "no sentence of 3 words can match the rule A{4}"),
        ("B A .", "every path that matches the rule B A . is forbidden"),
    ],
)
def test_rule_without_a_matching_path_raises_no_path_error(pattern, message):
    chain = AB.with_transition("B", "A", -math.inf)
    with pytest.raises(NoPathError) as error:
        match(chain, pattern)
    assert str(error.value) == message


def test_chain_without_a_path_reports_its_first_position():
    with pytest.raises(NoPathError, match="no tag can be reached at position 0"):
        match(AB.with_start("A", -math.inf).with_start("B", -math.inf), ".*")


def test_long_rule_and_its_complement_sum_to_one():
    """64 states and 120 words: the rule and its opposite have all the mass."""
    generator = np.random.default_rng(0)
    chain = Potentials(*(generator.normal(0, 2, shape) for shape in [(120, 17), (17, 17), 17, 17]))
    one, other = match(chain, ".* 3 .{5}"), match(chain, "(.{0,5} | .* [^ 3] .{5})")
    assert one.probability + other.probability == pytest.approx(1.0, abs=1e-11)
    assert 0.0 < one.probability < 1.0


def given_rule(seed):
    """A chain whose rule some path matches, with the matching paths and their probabilities."""
    generator = np.random.default_rng(seed)
    while True:
        chain, (ours, theirs), paths, scores = random_case(generator)
        allowed = rules.matching(theirs, paths) & (scores > -np.inf)
        left = scores[allowed]
        if len(left) > 1 and np.ptp(left) < 600:  # without chains of products that underflow
            return chain, ours, paths[allowed], left


@pytest.mark.parametrize("seed", range(60))
def test_analysis_given_a_rule_equals_enumeration(seed):
    chain, pattern, paths, left = given_rule(seed)
    found, total = analyse_match(chain, pattern), log_sum(left)
    shares = np.exp(left - total)
    T, K = chain.emissions.shape
    marginals, pairs = np.zeros((T, K)), np.zeros((T - 1, K, K))
    for path, share in zip(paths, shares, strict=True):
        marginals[np.arange(T), path] += share
        pairs[np.arange(T - 1), path[:-1], path[1:]] += share
    assert found.forward_backward.log_partition == pytest.approx(total, abs=1e-9)
    assert np.abs(found.forward_backward.marginals.numpy() - marginals).max() < 1e-9
    if T > 1:
        assert np.abs(found.forward_backward.edge_marginals.numpy() - pairs).max() < 1e-9
    entropy = -math.fsum(share * math.log(share) for share in shares if share > 0)
    assert found.entropy == pytest.approx(entropy, abs=1e-9)
    order = np.argsort(-left, kind="stable")[:20]
    top = found.k_best(20)
    assert [path.score for path in top] == pytest.approx(left[order], abs=1e-9)
    assert [path.probability for path in top] == pytest.approx(shares[order], abs=1e-9)
    assert {tuple(path.tags) for path in top} <= set(map(tuple, paths.tolist()))
    assert found.paths["viterbi"] == match(chain, pattern).path
    assert found.max_marginal == lowest_best(marginals)
    if T > 2:
        far = np.zeros((K, K))
        np.add.at(far, (paths[:, 0], paths[:, -1]), shares)
        assert np.abs(found.pairs(0, T - 1).numpy() - far).max() < 1e-9
        window = found.window(1, T - 1)
        assert np.abs(window.forward_backward.marginals.numpy() - marginals[1:]).max() < 1e-9
        assert window.paths["viterbi"] == found.paths["viterbi"][1:]
        assert [path.tags for path in window.k_best(3)] == [path.tags for path in top[:3]]
        assert window.entropy == found.entropy
        far.fill(0)
        np.add.at(far, (paths[:, 1], paths[:, -1]), shares)
        assert np.abs(window.pairs(0, T - 2).numpy() - far).max() < 1e-9


def lowest_best(marginals):
    return [int((row >= row.max() - 1e-9).argmax()) for row in marginals]


def test_samples_given_a_rule_match_with_correct_frequencies():
    chain, pattern, paths, left = given_rule(7)
    found, shares = analyse_match(chain, pattern), np.exp(left - log_sum(left))
    drawn = found.sample_counts(4000, seed=1)
    times = Counter(map(tuple, drawn.paths.tolist()))
    for path, share in zip(map(tuple, paths.tolist()), shares, strict=True):
        spread = math.sqrt(share * (1 - share) / 4000)
        assert abs(times.pop(path, 0) / 4000 - share) <= 5 * spread + 1e-9
    assert not times
    expected = found.forward_backward.marginals
    assert (drawn.frequencies - expected).abs().max() < 0.05
    for path in found.sample(20, seed=3):
        place = paths.tolist().index(path.tags)
        assert path.score == pytest.approx(left[place])
        assert path.probability == pytest.approx(shares[place])


@pytest.mark.parametrize("seed", range(40))
def test_why_not_given_a_rule_equals_enumeration(seed):
    chain, pattern, paths, left = given_rule(seed)
    for t, k in np.ndindex(*chain.emissions.shape):
        with_tag = paths[:, t] == k
        if not with_tag.any():
            with pytest.raises(NoPathError):
                why_not(chain, t, k, rule=pattern)
            continue
        answer = why_not(chain, t, k, rule=pattern)
        best = left[with_tag].max()
        assert answer.score == pytest.approx(best, abs=1e-9)
        assert answer.gap == pytest.approx(left.max() - best, abs=1e-9)
        assert answer.probability == pytest.approx(math.exp(best - log_sum(left)), abs=1e-9)
        assert answer.path[t] == k
        terms = answer.emission_terms.sum() + answer.transition_terms.sum()
        assert float(terms) == pytest.approx(answer.gap, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_pins_given_a_rule_equal_enumeration(seed):
    chain, pattern, paths, left = given_rule(seed)
    pins, barred = {0: int(paths[0, 0])}, (len(paths[0]) - 1, int(paths[-1, -1]))
    for forbidden in ([], [barred]):
        kept = paths[:, 0] == pins[0]
        if forbidden:
            kept &= paths[:, barred[0]] != barred[1]
        share = pin_probability(chain, pins, forbidden, rule=pattern)
        if not kept.any():
            assert share == 0.0
            with pytest.raises(NoPathError):
                condition(chain, pins, forbidden, rule=pattern)
            continue
        answer = condition(chain, pins, forbidden, rule=pattern)
        assert answer.cost == pytest.approx(log_sum(left) - log_sum(left[kept]), abs=1e-9)
        assert answer.probability == pytest.approx(share, abs=1e-12)
        assert answer.score_loss == pytest.approx(left.max() - left[kept].max(), abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_pin_equals_a_rule_naming_its_position(seed):
    """The mask of a pin is what the product of its automaton and the chain comes to."""
    chain, _, paths, _ = random_case(np.random.default_rng(seed))
    tag, t = rules.TAGS[paths[-1, -1]], len(paths[0]) // 2
    name = quoted(tag)
    for given, rule in (
        (restrict(chain, {t: tag}), f".{{{t}}} {name} .*"),
        (restrict(chain, {}, [(t, tag)]), f".{{{t}}} [^ {name}] .*"),
    ):
        expected = chain.constrained(rule)
        total = forward_backward(expected).log_partition
        assert forward_backward(given).log_partition == pytest.approx(total, abs=1e-9)
        if total > -math.inf:
            assert match(chain, rule).path == viterbi(given).path


@pytest.mark.parametrize("seed", range(20))
def test_influence_given_a_rule_equals_enumeration(seed):
    chain, pattern, paths, left = given_rule(seed)
    t, k = 0, int(paths[0, 0])
    shares = np.exp(left - log_sum(left))
    nudged = left + 1.5 * (paths[:, t] == k)
    moved = np.exp(nudged - log_sum(nudged)) - shares
    expected = np.zeros(chain.emissions.shape)
    for path, change in zip(paths, moved, strict=True):
        expected[np.arange(len(path)), path] += change
    found = influence(chain, t, 1.5, k, rule=pattern)
    assert np.abs(found.change.numpy() - expected).max() < 1e-9


def test_analysis_of_an_unmatched_rule_has_no_path():
    found = analyse_match(AB, "A{4}")
    assert found.viterbi is None
    assert found.max_marginal is None
    assert found.forward_backward.log_partition == -math.inf
    assert not found.forward_backward.marginals.any()
