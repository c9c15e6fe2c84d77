"""Strips: one a decoder, in order, and where backpointers lead."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.potentials import Potentials
from crfviz.views.stage.picture import Row
from crfviz.views.strips.decoders import (
    DECODERS,
    LABELS,
    USUAL_ROWS,
    backpointer_rows,
    decoder_rows,
)
from tests.support.strategies import chains, fewer_examples

INF = math.inf
EVERY = list(LABELS)

CHAIN = Potentials([[1.0, 0.5], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
NOTHING = Potentials(torch.zeros(2, 2), torch.full((2, 2), -INF))


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_every_decoder_has_its_own_tags_in_its_row(potentials):
    now = analyse(potentials)
    gold = [0] * potentials.num_tokens
    rows = decoder_rows(now, which=EVERY, gold=gold)
    assert [row.id for row in rows] == EVERY
    assert [row.label for row in rows] == list(LABELS.values())
    assert [row.tags for row in rows] == [*now.paths.values(), gold]
    assert [row.names(now.tags) for row in rows] == [
        row.tags and [now.tags[k] if k >= 0 else "–" for k in row.tags] for row in rows
    ]


def test_every_decoder_has_a_row_a_distinct_key_and_a_description():
    assert [*analyse(CHAIN).paths, "gold"] == list(DECODERS)
    keys = [decoder.key for decoder in DECODERS.values()]
    assert len({*keys, "p", "n", "s", "k"}) == len(keys) + 4  # those of the other parts
    assert all(decoder.about.endswith(".") for decoder in list(DECODERS.values())[:-1])


def test_word_without_a_tag_has_a_dash():
    assert Row("some", "some", [1, -1]).names(["A", "B"]) == ["B", "–"]


def test_only_selected_decoders_are_drawn_in_fixed_order():
    rows = decoder_rows(analyse(CHAIN), which=["viterbi", "greedy", "no such decoder"])
    assert [row.id for row in rows] == ["greedy", "viterbi"]
    assert decoder_rows(analyse(CHAIN), which=[]) == []


def test_without_gold_tags_there_is_no_gold_row():
    assert "gold" not in [row.id for row in decoder_rows(analyse(CHAIN), which=EVERY)]
    rows = decoder_rows(analyse(CHAIN), which=["viterbi"], gold=[0, 0])
    assert [row.id for row in rows] == ["viterbi"]


def test_trained_path_is_drawn_above_the_edited_one():
    before = analyse(CHAIN)
    now = analyse(CHAIN.with_emission(0, "0", -9.0))
    rows = decoder_rows(now, which=USUAL_ROWS, gold=[0, 0], trained=before)
    assert [row.id for row in rows] == [
        "greedy",
        "left_to_right",
        "viterbi_trained",
        "viterbi",
        "max_marginal",
        "gold",
    ]
    trained, edited = rows[2:4]
    assert (trained.label, trained.tags) == ("Viterbi, trained", before.viterbi.path)
    assert (edited.label, edited.tags) == ("Viterbi, now", now.viterbi.path)
    assert trained.tags != edited.tags


@pytest.mark.parametrize(
    ("now", "trained", "which"),
    [(CHAIN, NOTHING, EVERY), (CHAIN, CHAIN, ["greedy", "max_marginal"])],
    ids=["trained has no path", "viterbi is not wanted"],
)
def test_trained_rows_are_omitted_if_nothing_differs(now, trained, which):
    rows = decoder_rows(analyse(now), which=which, trained=analyse(trained))
    assert rows == decoder_rows(analyse(now), which=which)


def test_edits_without_a_path_draw_dashes():
    rows = decoder_rows(analyse(NOTHING), which=["viterbi", "max_marginal"], trained=analyse(CHAIN))
    assert [row.tags for row in rows] == [[0, 0], None, None]


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_backpointers_lead_back_along_the_viterbi_path(potentials):
    tags = list("ABCD"[: potentials.num_tags])
    now = analyse(replace(potentials, tags=tags))
    rows = backpointer_rows(now)
    assert [row.label for row in rows] == [f"backpointer of {tag}" for tag in tags]
    assert all(len(row.texts) == potentials.num_tokens and row.tags is None for row in rows)
    if now.viterbi is not None:
        path = now.viterbi.path
        named = ["START", *(tags[tag] for tag in path[:-1])]
        assert [rows[tag].texts[t] for t, tag in enumerate(path)] == named


@fewer_examples
@given(chains(max_tokens=5, max_tags=4))
def test_unreachable_cells_have_no_backpointer(potentials):
    tags = list("ABCD"[: potentials.num_tags])
    now = analyse(replace(potentials, tags=tags))
    for k, row in enumerate(backpointer_rows(now)):
        for t, text in enumerate(row.texts):
            assert (text == "–") == (now.best[t, k].item() == -INF)
            assert text in ("–", "START") if t == 0 else text in ("–", *tags)
