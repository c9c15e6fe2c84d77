"""The page Compare in a browser: both sides are the library's, and two stages share the keys."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.accessibility import assert_readable
from tests.support.screen import MARGINAL, chain, grid, named, number

SENTENCE = "The committee will present its report ."
EDITS = Edits(transitions={("DET", "NOUN"): -3.25}, emissions={(1, "ADJ"): 7.5})
EDITED = {"sentence": SENTENCE, "t": "DET.NOUN:-3.25", "e": "1.ADJ:7.5"}
LATTICES = {"v.pair": "lattices"}


def sides():
    return chain(sentence=SENTENCE), chain(sentence=SENTENCE, edits=EDITS)


def nodes(screen, which):
    """Marginals and ghosts of the nodes of one of the two stages."""
    return screen.page.evaluate(
        """(which) => {
          const stages = [...document.querySelectorAll("*")]
            .map((host) => host.shadowRoot?.querySelector("[data-stage]")).filter(Boolean);
          const nodes = [...stages[which].querySelectorAll("[data-node]")];
          return {
            count: stages.length,
            marginals: Object.fromEntries(
              nodes.map((node) => [node.dataset.node, Number(node.dataset.marginal)])),
            ghost: stages[which].querySelector(".line.ghost").getAttribute("d"),
          };
        }""",
        which,
    )


def save(screen, name):
    screen.page.locator(".st-key-snapshots button").first.click()
    field = screen.page.locator(".st-key-snapshot-name input")
    field.fill(name)
    field.press("Enter")
    expect(screen.page.locator(".st-key-snapshots button").first).to_contain_text("Snapshots (1)")
    expect(screen.page.locator(".st-key-snapshot-load")).to_be_visible()
    screen.press("Escape")


@pytest.mark.rotating
def test_tags_of_both_sides_and_their_differences(screen):
    screen.open("compare", **EDITED)
    screen.eventually(lambda: assert_compared(screen))
    assert_readable(screen)


def assert_compared(screen):
    shown = screen.read()
    first, second = sides()
    for row, found in (("a", first), ("b", second)):
        assert shown.rows[f"viterbi_{row}"] == named(found.analysis.viterbi.path, found.tags)
        assert shown.rows[f"greedy_{row}"] == named(found.analysis.greedy, found.tags)
        assert shown.rows[f"max_marginal_{row}"] == named(found.analysis.max_marginal, found.tags)
    before, after = (found.analysis.forward_backward.marginals for found in (first, second))
    expected = grid(after - before)
    table = {place: number(text) for place, text in shown.tables["change"].items()}
    assert table
    assert table == pytest.approx({place: expected[place] for place in table}, rel=1e-6, abs=1e-9)
    half = ((after - before).abs().sum(-1) / 2).tolist()
    assert shown.rows["distances"] == [f"{distance:.2f}" for distance in half]
    differs = screen.page.locator("[data-row=viterbi_b][data-differs]")
    paths = zip(first.analysis.viterbi.path, second.analysis.viterbi.path, strict=True)
    assert differs.count() == sum(a != b for a, b in paths)
    log_z = f"{second.analysis.forward_backward.log_partition:.2f}"
    assert f"log Z {log_z}" in screen.text()


@pytest.mark.rotating
def test_two_lattices_each_with_the_other_as_its_ghost(screen):
    screen.open("compare", **EDITED, **LATTICES)
    expect(screen.page.locator("[data-stage]")).to_have_count(2)

    def check():
        for which, found in enumerate(sides()):
            shown = nodes(screen, which)
            expected = grid(found.analysis.forward_backward.marginals)
            assert shown["marginals"] == pytest.approx(expected, abs=MARGINAL)
            assert shown["ghost"]

    screen.eventually(check)
    k = sides()[0].tags.index("NOUN")
    for which in (0, 1):  # arrows walk in the lattice that has the focus
        stage = screen.page.locator("[data-stage]").nth(which)
        stage.locator(f"[data-node='1,{k}']").focus()
        screen.press("ArrowRight")
        expect(stage.locator(f"[data-node='2,{k}']")).to_be_focused()
    screen.expect_measured(
        """() => { const main = document.querySelector("[data-testid=stMain]");
                   return Math.max(0, main.scrollHeight - main.clientHeight); }""",
        0,
    )


@pytest.mark.rotating
def test_undo_by_key_happens_once_with_two_stages(screen):
    screen.open("transitions", sentence=SENTENCE)
    for cell, score in (("DET,NOUN", "1"), ("PRON,VERB", "2")):
        with screen.redraw():
            screen.type_score(screen.cell(*cell.split(",")), score)
    screen.follow("Compare")
    screen.page.locator("label, button", has_text="both lattices").last.click()
    expect(screen.page.locator("[data-stage]")).to_have_count(2)
    screen.rest()
    screen.page.locator("h1").click()
    for keys, edits in (("z", "DET.NOUN:1"), ("Shift+z", "DET.NOUN:1,PRON.VERB:2")):
        screen.press(f"Control+{keys}")
        screen.page.wait_for_function(
            "(edits) => new URL(document.URL).searchParams.get('t') === edits", arg=edits
        )


@pytest.mark.rotating
def test_a_snapshot_is_saved_compared_and_shared_by_its_link(screen, watch, fresh):
    name = "<b>soft</b> & “more”"
    screen.open("compare", **EDITED)
    save(screen, name)
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    screen.choose("view-b", f"B: “{name}”")
    screen.page.wait_for_function("document.URL.includes('v.b=')")
    expected = named(sides()[1].analysis.viterbi.path, sides()[1].tags)

    def same(shown):
        assert shown.rows["viterbi_b"] == expected

    screen.eventually(lambda: same(screen.read()))
    screen.rest()  # the address tells of all of it
    other = watch(fresh())
    other.page.goto(screen.page.url)
    other.expect_title("Compare")
    other.wait({"name": 0, "rev": -1})
    other.eventually(lambda: same(other.read()))
    expect(other.page.locator(".st-key-view-b input")).to_have_value(re.compile(re.escape(name)))
    assert other.page.locator("main b", has_text="soft").count() == 0
