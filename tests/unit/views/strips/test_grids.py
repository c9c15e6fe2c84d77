"""Tables over the words: what stands in each cell, and Z read at every word."""

import math
import re

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.demonstrations.log_space import forward_messages, underflow
from crfviz.chain.potentials import Potentials
from crfviz.views.frames.demonstrations import underflow_frame
from crfviz.views.strips.pictures import (
    CONVENTIONS,
    EMISSION_DISPLAYS,
    SWEEP_DISPLAYS,
    alpha_grid,
    best_grid,
    beta_grid,
    consistency_note,
    consistency_rows,
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
def test_only_emission_scores_are_editable(potentials):
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
def test_independent_choice_of_each_word_is_outlined(potentials):
    analysis = analyse(potentials)
    for display in EMISSION_DISPLAYS:
        framed = emission_grid(analysis, display).outlined
        for row, tag in zip(potentials.emissions.tolist(), framed, strict=True):
            assert row[tag] == pytest.approx(max(row), rel=1e-9)


@fewer_examples
@given(small_chains)
def test_softmax_shows_the_share_of_each_tag(potentials):
    table = emission_grid(analyse(potentials), "softmax")
    for scores, shares in zip(potentials.emissions.tolist(), table.values.tolist(), strict=True):
        best = max(scores)
        weights = [0.0 if best == -INF else math.exp(score - best) for score in scores]
        total = math.fsum(weights) or 1.0
        assert shares == pytest.approx([weight / total for weight in weights], abs=1e-12)
        assert math.fsum(shares) == pytest.approx(0.0 if best == -INF else 1.0, abs=1e-12)


@fewer_examples
@given(chains(max_tokens=4, max_tags=5))
def test_ranks_break_ties_by_lowest_tag(potentials):
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
def test_recursion_tables_equal_those_of_the_chain(potentials):
    analysis = analyse(potentials)
    sums, guess = analysis.forward_backward, [0] * potentials.num_tokens
    marginals, best = marginal_grid(analysis, guess), best_grid(analysis)
    message = alpha_grid(analysis, "log", "message").values
    for found, expected in (
        (alpha_grid(analysis, "log", "included").values, sums.log_alpha),
        (message[:-1], forward_messages(potentials, sums)),
        (beta_grid(analysis, "log").values, sums.log_beta),
        (marginals.values, sums.marginals),
        (best.values, analysis.best),
    ):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)
    assert message[-1].isnan().all()  # no word comes after the last
    assert marginals.outlined == guess
    assert best.outlined == (analysis.viterbi.path if analysis.viterbi else None)


def sweeps(analysis, display):
    return [
        alpha_grid(analysis, display, "included"),
        alpha_grid(analysis, display, "message"),
        beta_grid(analysis, display),
    ]


@fewer_examples
@given(small_chains)
def test_normalised_columns_sum_to_one_where_reachable(potentials):
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
def test_probability_display_is_the_exponential_of_the_logs(potentials):
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


def test_colour_scale_ends_at_the_largest_score():
    potentials = Potentials([[2.0, -9.0], [4.0, -INF]], torch.zeros(2, 2))
    analysis = analyse(potentials)
    assert emission_grid(analysis, "score").scale == 4.0  # of the winners: they must stand out
    assert best_grid(analysis).scale == 9.0
    assert emission_grid(analyse(Potentials([[0.1]], [[0.0]])), "score").scale == 1.0


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("display", SWEEP_DISPLAYS)
def test_single_word_has_tables(display, convention):
    analysis = analyse(Potentials([[0.5, -INF]], torch.zeros(2, 2)))
    row = alpha_grid(analysis, display, convention).values[0].tolist()
    if convention == "message":
        assert all(map(math.isnan, row))
    else:
        assert row[1] == (-INF if display == "log" else 0.0)


def test_fully_forbidden_chain_has_tables():
    analysis = analyse(Potentials(torch.full((3, 2), -INF), torch.full((2, 2), -INF)))
    assert all(table.scale > 0 for table in every_table(analysis))


NOTHING = Potentials(torch.zeros(3, 2), torch.full((2, 2), -INF))


def number(text):
    return -INF if text == "−∞" else float(text.replace("−", "-"))


def products_of(potentials):
    """The table of Log space, where the products are."""
    tables = analyse(potentials).forward_backward
    return underflow_frame(underflow(potentials, tables), ["a"] * potentials.num_tokens)


@fewer_examples
@given(small_chains)
def test_log_z_equals_enumeration_at_every_word(potentials):
    analysis, expected = analyse(potentials), oracle.log_partition(potentials)
    (log_z,) = consistency_rows(analysis)
    assert (log_z.id, log_z.tags, len(log_z.texts)) == ("log_z", None, potentials.num_tokens)
    for text in log_z.texts:
        assert number(text) == pytest.approx(expected, abs=0.5e-4 + 1e-9)
    if expected == -INF:
        return
    *directions, tokens, deviation = re.fullmatch(
        r"log Z from α (\S+), from β (\S+), and at each of the (\d+) words: "
        r"largest deviation (\S+)\.",
        consistency_note(analysis),
    ).groups()
    for text in directions:
        assert number(text) == pytest.approx(expected, abs=0.5e-9 + 1e-9)
    assert int(tokens) == potentials.num_tokens
    assert 0.0 <= number(deviation) <= 1e-9


def test_without_a_path_z_is_zero_everywhere():
    (log_z,) = consistency_rows(analyse(NOTHING))
    products = products_of(NOTHING)
    assert log_z.texts == ["−∞"] * 3
    assert products["Σ α, float32"].tolist()[1:] == [0, 0]
    assert products["cells lost"].tolist() == [0, 0, 0]  # forbidden is not lost
    assert consistency_note(analyse(NOTHING)) == (
        "No tag sequence is allowed: Z is 0 however it is read, and log Z is −∞."
    )


def test_products_halve_at_each_word_until_they_underflow():
    """Of K^2 equal moves K lead to each tag: the sums fall as 2^-t, to nothing below 2^-149.

    From 2^-126 on float32 has fewer digits, and how the last of them go is left to the processor.
    """
    uniform = Potentials(torch.zeros(200, 2), torch.zeros(2, 2))
    products = products_of(uniform)
    sums, lost = products["Σ α, float32"].tolist(), products["cells lost"].tolist()
    assert sums[:125] == [2.0**-t for t in range(125)]
    assert lost[:125] == [0] * 125
    assert sums[150:] == [0] * 50
    assert lost[150:] == [2] * 50


def test_negative_log_z_has_a_minus_sign():
    (log_z,) = consistency_rows(analyse(Potentials([[-1.5]], [[0.0]])))
    assert log_z.texts == ["−1.5000"]


def test_message_convention_changes_the_row_label_and_note():
    analysis = analyse(Potentials([[1.0, 0.5], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
    (included,), (message,) = (consistency_rows(analysis, name) for name in CONVENTIONS)
    assert (included.label, message.label) == ("log Σ α·β", "log Σ α·e·β")
    assert included.texts == message.texts
    assert "leaves the emission" in consistency_note(analysis, "message")
    assert "leaves the emission" not in consistency_note(analysis, "included")
