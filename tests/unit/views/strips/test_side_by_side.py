"""Two chains side by side, against enumeration of all paths of both."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse, compare
from crfviz.chain.potentials import Potentials
from crfviz.views.strips.decoders import (
    LABELS,
    change_grid,
    comparison_note,
    comparison_rows,
    difference_line,
    figures,
    figures_line,
    incomparable_note,
)
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf
TAGS = ["A", "B", "C"]
WORDS = ["one", "two", "three"]


def chain(seed, tags=TAGS):
    generator = torch.Generator().manual_seed(seed)
    return Potentials(
        torch.randn(3, 3, generator=generator, dtype=torch.float64),
        torch.randn(3, 3, generator=generator, dtype=torch.float64),
        tags=tags,
    )


def permuted(potentials, order):
    """The same chain with its tags numbered otherwise."""
    return Potentials(
        potentials.emissions[:, order],
        potentials.transitions[order][:, order],
        potentials.start[order],
        potentials.end[order],
        tags=[potentials.tag_names[k] for k in order],
    )


def both_of(first, second):
    return compare(analyse(first), analyse(second))


def marginals(potentials):
    """{(t, tag name): probability} by enumeration."""
    total = oracle.log_partition(potentials)
    found = {(t, tag): 0.0 for t in range(3) for tag in TAGS}
    for path, score in oracle.allowed(potentials):
        for t, k in enumerate(path):
            found[t, potentials.tag_names[k]] += math.exp(score - total)
    return found


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]], ids=["same order", "other order"])
def test_changes_and_distances_equal_enumeration(order):
    first, second = chain(0), permuted(chain(1), order)
    both = both_of(first, second)
    before, after = marginals(first), marginals(second)
    for t in range(3):
        for k, tag in enumerate(TAGS):
            expected = after[t, tag] - before[t, tag]
            assert both.change()[t, k].item() == pytest.approx(expected, abs=1e-9)
        half = math.fsum(abs(after[t, tag] - before[t, tag]) for tag in TAGS) / 2
        assert both.distances()[t] == pytest.approx(half, abs=1e-9)
    assert both.in_order == (order == [0, 1, 2])
    assert torch.equal(change_grid(both).values, both.change())


def test_rows_of_the_second_chain_use_the_tag_order_of_the_first():
    first, second = chain(0), permuted(chain(1), [2, 0, 1])
    rows = {row.id: row for row in comparison_rows(both_of(first, second), list(LABELS))}
    for name in ("greedy", "left_to_right", "viterbi", "max_marginal"):
        assert rows[f"{name}_b"].against == f"{name}_a"
    plain = analyse(chain(1))
    assert rows["viterbi_b"].tags == plain.viterbi.path
    assert rows["greedy_b"].tags == plain.greedy
    assert list(rows["viterbi_a"].tags) == analyse(first).viterbi.path


def test_differences_are_counted_over_the_shown_decoders():
    first, second = chain(0), chain(1)
    one, two = analyse(first), analyse(second)
    rows = {row.id: row for row in comparison_rows(both_of(first, second), ["viterbi", "greedy"])}
    for t, text in enumerate(rows["differences"].texts):
        number = (one.viterbi.path[t] != two.viterbi.path[t]) + (one.greedy[t] != two.greedy[t])
        assert text == (f"≠ {number}" if number else "=")
    assert "max_marginal_a" not in rows
    assert "gold" not in rows
    gold = comparison_rows(both_of(first, second), list(LABELS), gold=[0, 1, 2])
    assert [0, 1, 2] in [row.tags for row in gold if row.id == "gold"]


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_chain_compared_with_itself_has_no_difference(potentials):
    named = replace(potentials, tags=TAGS[: potentials.num_tags])
    both = both_of(named, named)
    rows = {row.id: row for row in comparison_rows(both, list(LABELS))}
    assert set(rows["differences"].texts) == {"="}
    note = comparison_note(both)
    assert ("are the same" in note) or ("No tag sequence is allowed on A and B" in note)
    assert change_grid(both).label.endswith("nowhere more than 0.005")


def test_note_names_differing_words_and_the_largest_marginal_change():
    first = Potentials([[2.0, 0.0, 0.0]] * 3, torch.zeros(3, 3), tags=TAGS, tokens=WORDS)
    second = first.with_emission(1, "B", 9.0)
    both = both_of(first, second)
    note = comparison_note(both)
    assert "Viterbi differs at 1 of 3 words: “two” A ≠ B;" in note
    assert f"differ most at “two”: {both.distances()[1]:.2f}" in note
    gentle = both_of(first, first.with_emission(1, "A", 2.5))
    assert "takes the same path on both sides" in comparison_note(gentle)


def test_chains_with_different_tags_are_not_compared():
    assert both_of(chain(0), chain(1, tags=["A", "B", "D"])) is None
    note = incomparable_note(("upos", TAGS), ("ner", ["O", "A"]), same_words=True)
    assert "upos has 3 tags and ner 2, 1 of them the same" in note
    assert "none the same" in incomparable_note(("upos", TAGS), ("ner", ["O"]), same_words=True)
    note = incomparable_note(("upos", TAGS), ("ice", TAGS), same_words=False)
    assert "upos and ice cut this sentence into different words" in note


def test_figures_equal_enumeration():
    potentials = chain(0)
    found = figures(analyse(potentials))
    total = oracle.log_partition(potentials)
    scores = [score for _, score in oracle.allowed(potentials)]
    assert found.log_partition == pytest.approx(total, abs=1e-9)
    assert found.score == pytest.approx(max(scores), abs=1e-9)
    assert found.probability == pytest.approx(math.exp(max(scores) - total), abs=1e-9)
    entropy = -math.fsum(math.exp(score - total) * (score - total) for score in scores)
    assert found.entropy == pytest.approx(entropy, abs=1e-9)
    assert f"p(best) {found.probability:.3f}" in figures_line(found)


def test_scores_of_two_models_are_not_subtracted():
    one, two = figures(analyse(chain(0))), figures(analyse(chain(1)))
    assert difference_line(one, two, same_scale=True).startswith("log Z ")
    line = difference_line(one, two, same_scale=False)
    assert line.startswith("p(best) ")
    assert "two scales" in line
    assert "log Z 0 · best score 0" in difference_line(one, one, same_scale=True)


def test_comparison_with_a_chain_without_a_path_has_dashes():
    dead = Potentials(torch.zeros(3, 3), torch.full((3, 3), -INF), tags=TAGS)
    both = both_of(chain(0), dead)
    assert comparison_note(both).startswith("No tag sequence is allowed on B:")
    rows = {row.id: row for row in comparison_rows(both, ["viterbi"])}
    assert rows["viterbi_b"].tags is None
    assert rows["differences"].texts == ["≠ 1"] * 3
    one, two = figures(analyse(chain(0))), figures(analyse(dead))
    assert figures_line(two) == "log Z −∞ · no allowed path"
    assert difference_line(one, two, same_scale=True) == "no difference to compute"
