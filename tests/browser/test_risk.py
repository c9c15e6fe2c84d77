"""The page Risk in a browser: the faded lattice, the dashed path, and the dial by keyboard."""

import pytest
from playwright.sync_api import expect

import crfviz
from crfviz.corpus.tables.coverage import read_calibrations
from crfviz.taggers.registry import SHIPPED

SENTENCE = "These look fine to me ."
NAMES = "Maria met Milan in Milan ."


def test_lattice_keeps_what_the_set_uses(screen):
    screen.open("risk", model="upos-en", sentence=SENTENCE, **{"v.risk": "set", "v.folded": "no"})
    tagger = crfviz.load_tagger("upos-en")
    threshold = read_calibrations(SHIPPED / "upos-en").at("sentences", 90).threshold
    near = crfviz.path_set(tagger.potentials(SENTENCE.split()), threshold)
    page = screen.page
    uses = page.locator(".lattice-picture .use")
    expect(uses).to_have_count(sum(map(len, near.steps)))
    drawn = {use.get_attribute("data-use") for use in uses.all()}
    assert drawn == {f"{t + 1},{j},{k}" for t, step in enumerate(near.steps) for j, k in step}
    bright = page.locator(".lattice-picture .node:not([data-unused])")
    kept = {node.get_attribute("data-node") for node in bright.all()}
    assert kept == {f"{t},{tag}" for t, tags in enumerate(near.tags) for tag in tags}
    faded = page.locator(".lattice-picture .node[data-unused]").first
    assert float(faded.evaluate("node => getComputedStyle(node).opacity")) < 0.5


def test_cost_typed_by_keyboard_moves_the_dashed_path(screen):
    screen.open("risk", model="ner-en", sentence=NAMES)
    tagger, page = crfviz.load_tagger("ner-en"), screen.page
    chain = tagger.potentials(tagger.split(NAMES))
    box = page.get_by_role("spinbutton", name="Miss")
    box.fill("0.01")
    box.press("Enter")
    expected = crfviz.least_cost(chain, {"miss": 0.01})
    assert expected.path != crfviz.viterbi(chain).path
    screen.expect_param("v.costs", "miss=0.01")

    def is_drawn():
        assert page.locator('[data-row="least_cost"]').all_inner_texts() == expected.names
        assert page.locator(".line.greedy").get_attribute("d")

    screen.eventually(is_drawn)
    page.get_by_role("button", name="Undo").click()
    expect(box).to_have_value("1.00")


@pytest.mark.parametrize("show", ["dial", pytest.param("set", marks=pytest.mark.rotating)])
def test_page_fits_a_phone(screen, show):
    screen.page.set_viewport_size({"width": 390, "height": 844})
    screen.open("risk", model="ner-en", sentence=NAMES, **{"v.risk": show})
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= 390
    nodes = screen.page.locator(".lattice-picture .node")
    nodes.last.scroll_into_view_if_needed()
    expect(nodes.last).to_be_in_viewport()
    words = screen.page.locator(".scroller")  # the page scrolls, not a frame in it
    assert words.evaluate("(words) => words.scrollHeight <= words.clientHeight + 1")
