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


def test_a_sent_link_shows_the_same_screen_to_somebody_else(screen, watch, fresh):
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
def test_rows_chosen_in_the_sidebar_stay(screen):
    screen.open()
    with screen.redraw():
        screen.page.locator(".st-key-rows").get_by_text("greedy").click()
    kept = ["greedy", "viterbi", "max_marginal", "gold"]
    screen.eventually(lambda: assert_has_rows(screen, kept))
    screen.reload()
    screen.wait({"name": 0, "rev": -1})
    screen.eventually(lambda: assert_has_rows(screen, kept))


def assert_has_rows(screen, names):
    assert list(screen.read().rows) == names


@pytest.mark.rotating
def test_an_edit_is_in_the_links_to_other_pages_and_one_step_back_from_them(screen):
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


@pytest.mark.rotating
def test_an_example_and_another_model_are_chosen_in_the_sidebar(screen):
    screen.open("", t="DET.NOUN:-4")
    box = screen.page.locator(".st-key-example button[aria-haspopup=listbox]")
    box.click()
    options = screen.page.get_by_role("option")
    label = options.nth(1).inner_text()
    with screen.redraw():
        options.nth(1).click()
    expect(screen.sentence).not_to_have_value(SENTENCE)
    sentence = screen.sentence.input_value()
    edits = Edits(transitions={("DET", "NOUN"): -4.0})
    screen.expect_lattice(chain(sentence=sentence, edits=edits))
    assert label == f"{sentence} – {label.partition(' – ')[2]}"
    screen.eventually(lambda: assert_says(screen, label.partition(" – ")[2]))
    with screen.redraw():
        screen.choose("model", "upos-en")
    screen.expect_lattice(chain("upos-en", sentence, edits))
    screen.expect_param("model", None)  # the default
    screen.expect_edits(1)
    with screen.redraw():
        screen.choose("model", "ner-en")
    screen.wait_for_text("ner-en has no tag")
    screen.expect_lattice(chain("ner-en", sentence))
    screen.expect_edits(0)


def assert_says(screen, text):
    assert text in screen.text()


def test_two_sessions_do_not_influence_each_other(watch, fresh, screen):
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


@pytest.mark.rotating
def test_numbers_as_tables_on_demand(screen):
    screen.open("marginals")
    frames = screen.page.locator("[data-testid=stDataFrame]")
    expect(frames).to_have_count(1)  # the page's own: pairs of tags
    screen.page.locator(".st-key-view-twin label").first.click()
    expect(frames).to_have_count(3)
    screen.expect_param("v.twin", "1")
    marginals = chain().analysis.forward_backward.marginals
    screen.eventually(lambda: assert_table(screen.read(), "marginals", marginals))
    screen.page.locator(".st-key-view-twin label").first.click()
    expect(frames).to_have_count(1)
