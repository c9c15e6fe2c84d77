"""Emissions: where the clicked one comes from, word by word."""

import pytest

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.taggers.perturbations import HIDDEN
from tests.support.screen import one_thread, tagger

SENTENCE = "The old man the boat near the river ."
WORDS = SENTENCE.split()


def single_runs(model):
    """The sentence whole and with each word hidden, each scored by itself."""
    with one_thread():
        variants = [[*WORDS[:s], HIDDEN, *WORDS[s + 1 :]] for s in range(len(WORDS))]
        return [tagger(model).potentials(words) for words in [WORDS, *variants]]


def assert_origin(screen, model, position, tag):
    """Bars and counts are those of single runs, and the address names the cell."""
    whole, *hidden = single_runs(model)
    k = whole.tag_id(tag)
    moves = [(chain.emissions - whole.emissions)[position, k].item() for chain in hidden]
    path = viterbi(whole).path
    changed = [
        sum(a != b for a, b in zip(path, viterbi(chain).path, strict=True)) for chain in hidden
    ]

    def check():
        label = screen.page.locator(".row", has=screen.page.locator("[data-row=occlusion]"))
        assert label.first.inner_text().startswith(f"hidden: {tag}")
        titles = screen.page.locator("[data-row=occlusion]").evaluate_all(
            "cells => cells.map((cell) => cell.title)"
        )
        found = [float(title.split()[-2].replace("−", "-")) for title in titles]
        assert found == pytest.approx(moves, abs=3e-4)
        counts = screen.page.locator("[data-row=occlusion_tags]").all_inner_texts()
        assert [0 if text == "·" else int(text) for text in counts] == changed

    screen.eventually(check)
    return moves


def test_click_shows_the_effect_of_each_hidden_word(screen):
    screen.open("emissions", sentence=SENTENCE, model="upos-en")
    verb = list(tagger("upos-en").tags).index("VERB")
    screen.emission(2, verb).click()
    moves = assert_origin(screen, "upos-en", 2, "VERB")
    assert sum(abs(move) > 1e-3 for move in moves) > 1
    screen.press("Escape", "ArrowRight")
    assert_origin(screen, "upos-en", 3, "VERB")
    screen.expect_param("v.cell", "3 VERB")
    screen.expect_edits(0)
