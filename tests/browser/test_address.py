"""The address holds the screen: reload it, send it, go back in it."""

import re
from functools import partial
from itertools import product
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


def test_link_clicked_before_the_frame_is_there_keeps_the_session(watch, fresh):
    screen = watch(fresh())
    held, page = [], screen.page
    page.route(re.compile(r"/frame\.js"), lambda route: held.append(route))
    page.goto(screen.address("transitions", sentence=WORDS))
    page.locator(".st-key-pages a", has_text="Viterbi").click()
    page.evaluate("window.stays = true")
    expect(screen.sentence).to_have_value(WORDS)
    screen.eventually(lambda: held[0])
    held.pop().continue_()
    screen.expect_title("Viterbi")
    screen.wait({"name": 0, "rev": -1})
    expect(screen.sentence).to_have_value(WORDS)
    assert page.evaluate("window.stays")


QUICKLY = """([first, second, gap]) => {
  const click = (name) => {
    const links = [...document.querySelectorAll(".st-key-pages a")];
    links.find((link) => link.textContent === name).click();
  };
  click(first);
  setTimeout(() => click(second), gap);
}"""


def test_second_link_clicked_while_the_first_page_loads_opens_its_page(screen):
    screen.open("", sentence=WORDS)
    ways = [("Why this tag", "Emissions"), ("Annotate", "Viterbi"), ("Marginals", "Transitions")]
    for (first, second), gap in product(ways, (20, 50)):  # milliseconds
        screen.page.evaluate(QUICKLY, [first, second, gap])
        screen.expect_title(second)
        screen.rest()
        screen.expect_title(second)
        expect(screen.sentence).to_have_value(WORDS)
        expect(screen.page.get_by_role("combobox", name="Model")).to_have_value(MODEL)


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
