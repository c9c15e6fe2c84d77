"""Every page once, gone to by its link: its question, its glossary, and the library's numbers."""

from collections import Counter

import pytest
import torch
from playwright.sync_api import expect

from crfviz.chain.decoding.viterbi import k_best
from crfviz.chain.distribution import sample
from crfviz.chain.edits import Edits
from crfviz.chain.forward_backward import normalise
from crfviz.views.contents import ENTRIES, GROUPS, GUIDES, page_of
from crfviz.views.strips.pictures import SWEEP_DISPLAYS
from tests.support.plain_words import assert_plain
from tests.support.screen import (
    MODEL,
    OF_SENTENCE,
    STAGES,
    assert_equal,
    assert_matrix,
    assert_rows,
    assert_table,
    chain,
    named,
)

LONGER = "The committee will present its report to the board on Monday ."
EDITS = Edits(transitions={("DET", "NOUN"): -3.25}, emissions={(1, "ADJ"): 7.5}, strength=0.5)
EDITED = {"t": "DET.NOUN:-3.25", "e": "1.ADJ:7.5", "k": "0.5"}
TERMS = """(terms) => JSON.stringify(terms) === JSON.stringify(
  [...document.querySelectorAll("#crfviz-glossary > dl > div")].map((one) => one.dataset.term))"""
QUESTION = """(text) => {
  const shown = document.querySelector(".crfviz-answers > span")?.childNodes ?? [];
  const texts = [...shown].filter((node) => !node.hasAttribute?.("popover"));
  return text === texts.map((node) => node.textContent).join("");
}"""


@pytest.mark.long
def test_every_page_shows_the_numbers_of_the_library(screen):
    screen.open("transitions", sentence=LONGER, **EDITED)
    expected = chain(MODEL, LONGER, EDITS)
    for entry in [*ENTRIES[1:], ENTRIES[0]]:
        if entry.path in STAGES and entry.path != "transitions":
            with screen.redraw():
                screen.follow(entry.title)
        else:
            screen.follow(entry.title)
        assert_frame(screen, entry)
        screen.rest()
        assert not screen.page.locator("[data-testid=stAlertContentError]").all_inner_texts()
        if entry.path != "guides":  # documents have sentences of their own, which other tests read
            assert_plain(screen, entry.path)
        if entry.path in OF_SENTENCE:
            screen.expect_edits(3)
            screen.eventually(lambda: assert_rows(screen.read(), expected))
            NUMBERS.get(entry.path, assert_words)(screen, expected)
    shown = screen.page.locator(".st-key-pages summary").all_inner_texts()
    assert [text.split("\n")[-1] for text in shown] == list(GROUPS)
    assert screen.params().items() >= {"sentence": LONGER, **EDITED}.items()


def assert_frame(screen, entry):
    """What surrounds the page is its own."""
    screen.page.wait_for_function(QUESTION, arg=entry.answers)
    page = page_of(entry.path)
    listed = [page.title] if page != GUIDES else []
    expect(screen.page.locator(".st-key-pages a[aria-current]")).to_have_text(listed)
    if page.views:
        expect(screen.tab(entry.label)).to_be_checked()
    screen.page.wait_for_function(TERMS, arg=list(entry.terms))
    expect(screen.sentence).to_have_count(int(entry.sentence))
    expect(screen.page.locator(".st-key-model")).to_have_count(int(entry.model))


def assert_words(screen, expected):
    screen.eventually(lambda: assert_equal(screen.read().words, expected.words))


def assert_explore(screen, expected):
    screen.expect_lattice(expected)
    shown = screen.read()
    assert list(shown.rows)[:4] == ["greedy", "left_to_right", "viterbi", "max_marginal"]
    labels = screen.page.locator(".strips .label[title]")
    titles = labels.evaluate_all("(all) => all.map((one) => [one.textContent, one.title])")
    assert len(titles) >= 4
    assert all(said.endswith(".") for _, said in titles), titles
    score = expected.analysis.viterbi.score
    log_partition = expected.analysis.forward_backward.log_partition
    for value in (score, log_partition, score - log_partition):
        assert f"{value:.2f}".replace("-", "−") in shown.identity


def assert_emissions(screen, expected):
    assert_table(screen.read(), "emissions", expected.analysis.potentials.emissions)


def assert_transitions(screen, expected):
    screen.expect_lattice(expected)
    shown = screen.read()
    assert_matrix(shown, expected)
    assert {"START,DET", "DET,NOUN", "PUNCT,END"} <= shown.cells.keys()
    trained = chain(MODEL, LONGER)
    assert shown.rows["viterbi_trained"] == named(trained.analysis.viterbi.path, trained.tags)


def assert_forward_backward(screen, expected):
    tables = expected.analysis.forward_backward
    shown = screen.read()
    assert_table(shown, "alpha", tables.log_alpha)
    assert_table(shown, "beta", tables.log_beta)
    log_z = f"{tables.log_partition:.4f}".replace("-", "−")
    assert shown.rows["log_z"] == [log_z] * len(expected.words)
    with screen.redraw():
        screen.page.get_by_role("radio", name=SWEEP_DISPLAYS["normalised"]).click()
    normalised = normalise(tables.log_alpha)
    screen.eventually(lambda: assert_table(screen.read(), "alpha", normalised))


def assert_viterbi(screen, expected):
    """At the end of the walk; the nodes show marginals when asked."""
    screen.page.locator("h1").click()
    screen.press("End")
    with screen.redraw():
        screen.page.get_by_role("button", name="marginals").click()
    screen.expect_lattice(expected)


def assert_marginals(screen, expected):
    potentials = expected.analysis.potentials
    shown = screen.read()
    assert_table(shown, "marginals", expected.analysis.forward_backward.marginals)
    for rank, path in enumerate(k_best(potentials, 5), start=1):
        assert shown.rows[f"best_{rank}"] == named(path.tags, expected.tags)
    samples = [row for name, row in shown.rows.items() if name.startswith("sample_")]
    drawn = sample(potentials, 10, torch.Generator().manual_seed(0))
    times = Counter(tuple(named(path.tags, expected.tags)) for path in drawn).most_common()
    assert samples == [list(path) for path, _ in times]


NUMBERS = {
    "": assert_explore,
    "emissions": assert_emissions,
    "transitions": assert_transitions,
    "forward-backward": assert_forward_backward,
    "viterbi": assert_viterbi,
    "marginals": assert_marginals,
}
