"""Tables over the words: what stands in each cell, by enumeration and in plain Python."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.views.strips.grids import (
    CONVENTIONS,
    EMISSION_DISPLAYS,
    SWEEP_DISPLAYS,
    alpha_grid,
    best_grid,
    beta_grid,
    emission_grid,
    marginal_grid,
)
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

INF = math.inf

small_chains = chains(max_tokens=4, max_tags=3)


def every_table(analysis):
    """All the tables there are, in every display."""
    tables = [emission_grid(analysis, display) for display in EMISSION_DISPLAYS]
    for display in SWEEP_DISPLAYS:
        tables += [alpha_grid(analysis, display, convention) for convention in CONVENTIONS]
        tables.append(beta_grid(analysis, display))
    return [*tables, marginal_grid(analysis, None), best_grid(analysis)]


def cells(potentials):
    T, K = potentials.emissions.shape
    return [(t, k) for t in range(T) for k in range(K)]


@fewer_examples
@given(chains(max_tokens=4, max_tags=4))
def test_every_table_has_a_cell_for_every_tag_of_every_word(potentials):
    for table in every_table(analyse(potentials)):
        assert table.values.shape == potentials.emissions.shape
        assert table.values.dtype == torch.float64
        assert (0.0 if table.kind == "exponent" else 1.0) <= table.scale < INF
        assert table.label
        if table.kind != "exponent":  # whose logarithm may be too large to take back
            assert not table.values.isposinf().any()
        if table.kind == "probability":
            assert ((table.values >= 0) & (table.values <= 1) | table.values.isnan()).all()
            assert table.scale == 1.0


@fewer_examples
@given(small_chains)
def test_only_the_scores_of_the_emissions_can_be_edited(potentials):
    analysis = analyse(potentials)
    editable = [table for table in every_table(analysis) if table.editable]
    assert [(table.name, table.kind) for table in editable] == [
        ("emissions", "score"),
        ("emissions", "exponent"),
    ]
    assert torch.equal(editable[0].values, potentials.emissions)
    assert torch.equal(editable[1].values, torch.exp(potentials.emissions))


@fewer_examples
@given(small_chains)
def test_the_choice_of_each_word_alone_is_framed(potentials):
    analysis = analyse(potentials)
    for display in EMISSION_DISPLAYS:
        framed = emission_grid(analysis, display).outlined
        for row, tag in zip(potentials.emissions.tolist(), framed, strict=True):
            assert row[tag] == pytest.approx(max(row), rel=1e-9)


@fewer_examples
@given(small_chains)
def test_softmax_is_the_share_of_each_tag(potentials):
    table = emission_grid(analyse(potentials), "softmax")
    for scores, shares in zip(potentials.emissions.tolist(), table.values.tolist(), strict=True):
        best = max(scores)
        weights = [0.0 if best == -INF else math.exp(score - best) for score in scores]
        total = math.fsum(weights) or 1.0
        assert shares == pytest.approx([weight / total for weight in weights], abs=1e-12)
        assert math.fsum(shares) == pytest.approx(0.0 if best == -INF else 1.0, abs=1e-12)


@fewer_examples
@given(chains(max_tokens=4, max_tags=5))
def test_ranks_count_from_the_best_and_ties_from_the_lowest_tag(potentials):
    table = emission_grid(analyse(potentials), "rank")
    for scores, ranks in zip(potentials.emissions.tolist(), table.values.tolist(), strict=True):
        by_hand = sorted(range(len(scores)), key=lambda k: (-scores[k], k))
        assert [by_hand.index(k) + 1 for k in range(len(scores))] == ranks


def test_ranks_of_many_equal_scores_are_in_order():
    """An unstable sort shows only on longer rows."""
    table = emission_grid(analyse(Potentials(torch.zeros(1, 60), torch.zeros(60, 60))), "rank")
    assert table.values.tolist() == [list(range(1, 61))]
    assert table.digits == 0


@fewer_examples
@given(small_chains)
def test_alpha_is_the_sum_over_prefixes_with_the_emission_in(potentials):
    values = alpha_grid(analyse(potentials), "log", "included").values
    for t, k in cells(potentials):
        expected = oracle.log_alpha(potentials, t, k)
        assert values[t, k].item() == pytest.approx(expected, abs=1e-9)


@fewer_examples
@given(small_chains)
def test_alpha_as_a_message_lacks_the_next_emission_and_the_last_word_has_none(potentials):
    values = alpha_grid(analyse(potentials), "log", "message").values.tolist()
    assert all(map(math.isnan, values[-1]))
    for t, k in cells(potentials)[: -potentials.num_tags]:
        free = potentials.with_emission(t + 1, k, 0.0)
        expected = oracle.log_alpha(free, t + 1, k)
        assert values[t][k] == pytest.approx(expected, abs=1e-9)


@fewer_examples
@given(small_chains)
def test_beta_is_the_sum_over_suffixes(potentials):
    values = beta_grid(analyse(potentials), "log").values
    for t, k in cells(potentials):
        expected = oracle.log_beta(potentials, t, k)
        assert values[t, k].item() == pytest.approx(expected, abs=1e-9)


def sweeps(analysis, display):
    return [
        alpha_grid(analysis, display, "included"),
        alpha_grid(analysis, display, "message"),
        beta_grid(analysis, display),
    ]


@fewer_examples
@given(small_chains)
def test_normalised_columns_sum_to_one_where_anything_is_reached(potentials):
    analysis = analyse(potentials)
    for table, logs in zip(sweeps(analysis, "normalised"), sweeps(analysis, "log"), strict=True):
        assert table.kind == "probability"
        for shares, scores in zip(table.values.tolist(), logs.values.tolist(), strict=True):
            if math.isnan(scores[0]):
                assert all(map(math.isnan, shares))
                continue
            best = max(scores)
            assert math.fsum(shares) == pytest.approx(0.0 if best == -INF else 1.0, abs=1e-12)
            for share, score in zip(shares, scores, strict=True):
                weight = 0.0 if best == -INF else math.exp(score - best)
                assert share == pytest.approx(weight * max(shares), abs=1e-12)


@fewer_examples
@given(chains(max_tokens=3, max_tags=3))
def test_probabilities_are_the_exponentials_of_the_logs(potentials):
    analysis = analyse(potentials)
    for table, logs in zip(sweeps(analysis, "probability"), sweeps(analysis, "log"), strict=True):
        assert table.kind == "exponent"
        for value, log in zip(
            table.values.flatten().tolist(), logs.values.flatten().tolist(), strict=True
        ):
            if log < 700:
                assert value == pytest.approx(math.exp(log), rel=1e-12)
            elif log > 710:
                assert value == INF
            elif math.isnan(log):
                assert math.isnan(value)


@fewer_examples
@given(small_chains)
def test_marginals_are_those_of_enumeration(potentials):
    table = marginal_grid(analyse(potentials), [0] * potentials.num_tokens)
    marginals = oracle.marginals(potentials)
    for t, k in cells(potentials):
        assert table.values[t, k].item() == pytest.approx(marginals[t, k], abs=1e-9)
    assert table.outlined == [0] * potentials.num_tokens


@fewer_examples
@given(small_chains)
def test_the_best_table_holds_the_best_prefixes_and_frames_the_path(potentials):
    analysis = analyse(potentials)
    table = best_grid(analysis)
    for t, k in cells(potentials):
        expected = oracle.best_prefix(potentials, t, k)
        assert table.values[t, k].item() == pytest.approx(expected, abs=1e-9)
    assert table.outlined == (analysis.viterbi.path if analysis.viterbi else None)


def test_colour_is_full_at_the_largest_score():
    potentials = Potentials([[2.0, -9.0], [4.0, -INF]], torch.zeros(2, 2))
    analysis = analyse(potentials)
    assert emission_grid(analysis, "score").scale == 4.0  # of the winners: they must stand out
    assert best_grid(analysis).scale == 9.0
    assert emission_grid(analyse(Potentials([[0.1]], [[0.0]])), "score").scale == 1.0


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("display", SWEEP_DISPLAYS)
def test_one_word_has_its_tables(display, convention):
    analysis = analyse(Potentials([[0.5, -INF]], torch.zeros(2, 2)))
    row = alpha_grid(analysis, display, convention).values[0].tolist()
    if convention == "message":
        assert all(map(math.isnan, row))
    else:
        assert row[1] == (-INF if display == "log" else 0.0)


def test_a_wall_of_forbidden_cells_has_tables_too():
    analysis = analyse(Potentials(torch.full((3, 2), -INF), torch.full((2, 2), -INF)))
    assert all(table.scale > 0 for table in every_table(analysis))
