"""The address holds the screen: reload it, send it, go back in it."""

from functools import partial
from urllib.parse import urlencode

import pytest
import torch
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.screen import (
    MODEL,
    SENTENCE,
    assert_table,
    chain,
    tagger,
)

WORDS = "Fruit flies like a banana ."


def test_shared_link_shows_the_same_screen(screen, watch, fresh):
    screen.open("transitions", model="upos-en")
    screen.type_sentence(WORDS)
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-7.125")
    with screen.redraw():
        screen.follow("Emissions")
    with screen.redraw():
        screen.type_score(screen.emission(1, 5), "3.75")
    edits = Edits(
        transitions={("DET", "NOUN"): -7.125}, emissions={(1, tagger("upos-en").tags[5]): 3.75}
    )
    emissions = chain("upos-en", WORDS, edits).analysis.potentials.emissions
    order = emissions.argsort(dim=1, descending=True, stable=True)
    displays = {"rank": order.argsort(dim=1) + 1, "softmax": torch.softmax(emissions, dim=1)}
    for display, values in displays.items():
        with screen.redraw():
            screen.page.get_by_role("radio", name=display).click()
        screen.expect_param("v.emissions", display)
        screen.eventually(partial(assert_shows, screen, display, values))
    other = watch(fresh())
    other.page.goto(screen.page.url)
    other.wait({"name": 0, "rev": -1})
    other.expect_read(screen.read())
    assert list(other.read().tables) == ["softmax"]
    other.expect_params(screen.params())
    expect(other.sentence).to_have_value(WORDS)
    other.expect_edits(2)
    expect(other.page.get_by_role("combobox", name="Model")).to_have_value("upos-en")


def assert_shows(screen, table, values):
    assert_table(screen.read(), table, values)


@pytest.mark.rotating
def test_edit_is_in_page_links_and_after_going_back(screen):
    screen.open("transitions", step="2", **{"v.panel": "beta"})
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-4")
    link = screen.page.locator(".st-key-pages a", has_text="Viterbi")
    edited, chosen = {"model": MODEL, "t": "DET.NOUN:-4"}, {"model": MODEL, "v.weight": "DET NOUN"}
    expect(link).to_have_attribute("href", f"viterbi?{urlencode(edited | chosen)}")
    screen.follow("Viterbi")
    screen.expect_edits(1)
    screen.expect_params(edited | chosen)
    with screen.redraw():
        screen.page.get_by_role("button", name="Undo", exact=True).click()  # still possible
    screen.expect_params(chosen)
    screen.page.go_back()
    screen.expect_params(edited | chosen)
    with screen.redraw():
        screen.page.go_back()
        screen.expect_title("Transitions")
    screen.expect_lattice(chain(edits=Edits(transitions={("DET", "NOUN"): -4.0})))
    screen.expect_edits(1)


def test_two_sessions_are_independent(watch, fresh, screen):
    other = watch(fresh())
    screen.open("transitions")
    other.open("transitions")
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "5")
    with other.redraw():
        other.type_score(other.cell("PRON", "VERB"), "-5")
    with other.redraw():
        other.apply_sentence(WORDS)
    screen.expect_lattice(chain(edits=Edits(transitions={("DET", "NOUN"): 5.0})))
    edits = Edits(transitions={("PRON", "VERB"): -5.0})
    other.expect_lattice(chain(sentence=WORDS, edits=edits))
    screen.expect_edits(1)
    other.expect_edits(1)
    expect(screen.sentence).to_have_value(SENTENCE)
