"""The page that says why a tag lost: its bars and sentences against sums made by hand."""

import math

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import why_not
from crfviz.views.strips.what_if import ruler
from crfviz.views.strips.why import (
    Question,
    likeliest_loser,
    log_odds_row,
    rival,
    tag_label,
    why_gap,
    why_note,
    why_row,
)
from tests.support import oracle
from tests.support.strategies import chains, fewer_examples

TAGS = ("DET", "NOUN", "VERB")
WORDS = ("the", "dog", "barks")
CHAIN = Potentials(
    [[3.0, 0.0, 0.0], [0.0, 2.0, 1.5], [0.0, 1.0, 1.9]],
    [[-1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [1.0, 0.0, -2.0]],
    tags=TAGS,
    tokens=WORDS,
)


def asked(tag, answer):
    """About the second word."""
    return Question(analyse(CHAIN), 1, tag, answer)


def test_default_question_is_the_best_rival_at_the_least_certain_word():
    analysis = analyse(CHAIN)
    position, tag = likeliest_loser(analysis)
    marginals = analysis.forward_backward.marginals.tolist()
    path = analysis.viterbi.path
    sure = [marginals[t][path[t]] for t in range(3)]
    assert position == sure.index(min(sure))
    others = [each for each in oracle.allowed(CHAIN) if each[0][position] != path[position]]
    near = {other[position] for other, score in others if score > others[0][1] - 1e-9}
    assert tag == max(near, key=lambda k: marginals[position][k])


@pytest.mark.parametrize(("behind", "expected"), [(2.9, "NOUN"), (3.1, "X")])
def test_residual_tags_stand_back_while_another_is_near(behind, expected):
    tags = ("NOUN", "SYM", "VERB", "X")
    chain = Potentials([[3.0 - behind, 1.0, 5.0, 3.0]], torch.zeros(4, 4), tags=tags)
    assert tags[rival(analyse(chain), 0)] == expected


def test_x_of_universal_dependencies_is_named_other():
    assert [tag_label(("SYM", "X"), k) for k in (0, 1)] == ["SYM", "X (other)"]
    assert tag_label(("X", "Y"), 0) == "X"


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_bars_sum_to_the_gap(potentials):
    analysis = analyse(potentials)
    if analysis.viterbi is None:
        return
    position, tag = 0, analysis.viterbi.path[0]
    answer = why_not(potentials, position, tag)
    terms = why_gap(Question(analysis, position, tag, answer))
    assert sum(terms.emissions) + sum(terms.transitions) == pytest.approx(answer.gap, abs=1e-9)
    assert len(terms.transitions) == len(terms.emissions) + 1


def test_note_has_the_gap_the_ratio_and_the_largest_term():
    answer = why_not(CHAIN, 1, "VERB")
    note = why_note(asked(2, answer))
    gap = CHAIN.score(["DET", "NOUN", "VERB"]) - CHAIN.score(answer.path)
    assert f"VERB at “dog” would cost {gap:.2f} nats" in note
    terms = [*answer.emission_terms.tolist(), *answer.transition_terms.tolist()]
    assert note.endswith(f": {max(terms):.2f}.")
    assert f"{math.exp(gap):.2g} times less probable" in note


def test_tag_on_the_best_path_is_called_chosen():
    answer = why_not(CHAIN, 1, "NOUN")
    chosen = asked(1, answer)
    assert "is on the best path" in why_note(chosen)
    assert why_gap(chosen).title == "NOUN at “dog” is chosen"
    assert list(why_row(chosen).tags) == answer.best


def test_ruler_intervals_cover_the_axis_and_name_differing_words():
    drawn = ruler(CHAIN, CHAIN, ("NOUN", "VERB"))
    lows = [piece.low for piece in drawn.pieces]
    highs = [piece.high for piece in drawn.pieces]
    assert (lows[0], highs[-1]) == (-math.inf, math.inf)
    assert lows[1:] == highs[:-1]
    assert drawn.trained == 1.0
    assert len({piece.label for piece in drawn.pieces}) == len(drawn.pieces)


@pytest.mark.parametrize("move", [("START", "NOUN"), ("NOUN", "END")], ids=["start", "end"])
def test_start_and_end_transitions_have_rulers(move):
    assert ruler(CHAIN, CHAIN, move).trained == 0.0


def test_edited_gap_includes_the_trained_terms():
    now = CHAIN.with_transition(0, 1, -3.0)
    before, answer = why_not(CHAIN, 1, 2), why_not(now, 1, 2)
    assert why_gap(asked(2, answer)).trained is None
    emissions, transitions = why_gap(asked(2, answer), before).trained
    assert sum(emissions) + sum(transitions) == pytest.approx(before.gap, abs=1e-9)


@fewer_examples
@given(chains(max_tokens=4, max_tags=3))
def test_log_odds_equal_enumeration(potentials):
    weights = oracle.allowed(potentials)
    for k in range(potentials.num_tags):
        row = log_odds_row(analyse(potentials), k)
        for t, text in enumerate(row.texts):
            having = [score for path, score in weights if path[t] == k]
            lacking = [score for path, score in weights if path[t] != k]
            if not weights:
                assert text == "–"
            elif not having or not lacking:
                assert text == ("−∞" if not having else "+∞")
            else:
                top = max(score for _, score in weights)
                expected = math.log(sum(math.exp(score - max(having)) for score in having))
                expected -= math.log(sum(math.exp(score - max(lacking)) for score in lacking))
                expected += (max(having) - top) - (max(lacking) - top)
                assert float(text.replace("−", "-")) == pytest.approx(expected, abs=0.00501)
