"""The page Compare in a browser: two stages, which share the keys."""

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.screen import MARGINAL, chain, grid

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


@pytest.mark.rotating
def test_two_lattices_show_each_other_as_ghosts(screen):
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
def test_undo_key_is_applied_once_with_two_stages(screen):
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
