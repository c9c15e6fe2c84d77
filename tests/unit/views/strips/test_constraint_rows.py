"""Rows and words about the BIO rules."""

import math

import torch

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.entities import ConstraintEffect, constraint_effect
from crfviz.views.strips.decoders import FREE, LABELS, LEGAL, constraint_note, constraint_rows

TAGS = ["O", "B-PER", "I-PER"]
WORDS = ["Ada", "Byron"]


def chain(emissions, words=WORDS):
    return Potentials(emissions, torch.zeros(3, 3), tags=TAGS, tokens=words)


BROKEN = chain([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])  # free: I-PER I-PER
FREE_CHAIN = analyse(BROKEN)


def rows_of(potentials, **options):
    effect = constraint_effect(potentials)
    rows = constraint_rows(analyse(potentials), effect, which=list(LABELS), **options)
    return {row.id: row for row in rows}


def test_rows_show_the_decoders_and_mark_bio_violations():
    rows = rows_of(BROKEN, gold=[1, 2])
    assert list(rows) == ["greedy", "left_to_right", FREE, LEGAL, "gold"]
    assert list(rows["greedy"].tags) == list(rows[FREE].tags) == [2, 2]
    assert list(rows[LEGAL].tags) == [1, 2]
    assert {name: list(row.faults) for name, row in rows.items()} == {
        "greedy": [0],
        "left_to_right": [0],
        FREE: [0],
        LEGAL: [],
        "gold": [],
    }


def test_both_viterbi_rows_are_always_shown():
    rows = constraint_rows(analyse(BROKEN), constraint_effect(BROKEN), which=[])
    assert [row.id for row in rows] == [FREE, LEGAL]


def test_without_a_path_both_viterbi_rows_have_dashes():
    dead = chain([[0.0] * 3, [-math.inf] * 3])
    rows = constraint_rows(analyse(dead), None, which=[])
    assert [row.tags for row in rows] == [None, None]


def test_note_has_the_illegal_mass_and_the_changed_words():
    effect = constraint_effect(BROKEN)
    note = constraint_note(effect, FREE_CHAIN)
    assert f"{100 * effect.mass:.2f} % of the probability" in note
    assert "The rules change “Ada” I-PER → B-PER." in note


def test_notes_for_legal_impossible_and_tiny_mass():
    legal = ConstraintEffect(0.0, [0, 0], [0, 0], [])
    assert constraint_note(legal, FREE_CHAIN) == (
        "No probability goes to tag sequences that BIO forbids. "
        "The best path is legal as it is: the rules change no tag."
    )
    assert "No legal tag sequence is allowed" in constraint_note(
        ConstraintEffect(1.0, [2, 2], None, []), FREE_CHAIN
    )
    tiny = ConstraintEffect(3e-9, [0, 0], [0, 0], [])
    assert "3.0e−07 %" in constraint_note(tiny, FREE_CHAIN)
    almost = ConstraintEffect(0.999999, [2, 2], [1, 2], [0])
    assert "nearly all of the probability" in constraint_note(almost, FREE_CHAIN)


def test_mass_rounded_to_one_is_not_called_everything():
    effect = constraint_effect(chain([[0.0, 0.0, 900.0], [0.0, 0.0, 900.0]]))
    assert effect.mass == 1.0  # the legal paths have e^-900
    assert "nearly all of the probability" in constraint_note(effect, FREE_CHAIN)
    impossible = constraint_effect(chain([[-math.inf, -math.inf, 0.0]] * 2))
    assert "100.00 % of the probability" in constraint_note(impossible, FREE_CHAIN)


def test_note_names_at_most_three_changes():
    effect = ConstraintEffect(0.5, [2] * 5, [0] * 5, [0, 1, 2, 3, 4])
    assert "and 2 more." in constraint_note(effect, analyse(chain([[0.0] * 3] * 5, list("abcde"))))


def test_rows_include_the_path_before_the_edits():
    now, effect = analyse(BROKEN), constraint_effect(BROKEN)
    before = analyse(chain([[5.0, 0.0, 0.0], [5.0, 0.0, 0.0]]))
    rows = constraint_rows(now, effect, which=list(LABELS), trained=before)
    assert [row.id for row in rows] == ["greedy", "left_to_right", FREE, LEGAL]
    assert [list(row.trained) for row in rows] == [[0, 0]] * 4
