"""While edits are active every picture keeps the trained model's values, not by colour alone."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.screen import chain

EDITS = Edits(transitions={("DET", "NOUN"): -3.25}, emissions={(1, "ADJ"): 7.5})
EDITED = {"t": "DET.NOUN:-3.25", "e": "1.ADJ:7.5"}
SENTENCE = "The committee will present its report ."
TRAINED, NOW = chain(sentence=SENTENCE), chain(sentence=SENTENCE, edits=EDITS)


def direction(now, before, digits):
    """What the mark of a cell must say."""
    if now == before or abs(now - before) < 0.5 * 10**-digits:
        return None
    return "up" if now > before else "down"


def marks(screen, table):
    cells = screen.page.evaluate(
        """(table) => crfviz.all(`[data-table=${table}]`).map((cell) =>
             [Number(cell.dataset.t), Number(cell.dataset.k), cell.dataset.change ?? null])""",
        table,
    )
    return {(t, k): mark for t, k, mark in cells}


def tables(found):
    both = found.analysis.forward_backward
    return {
        "emissions": found.analysis.potentials.emissions,
        "alpha": both.log_alpha,
        "beta": both.log_beta,
        "marginals": both.marginals,
    }


def assert_marked(screen, table, digits):
    now, before = tables(NOW)[table].tolist(), tables(TRAINED)[table].tolist()

    def check():
        shown = marks(screen, table)
        assert shown == {(t, k): direction(now[t][k], before[t][k], digits) for t, k in shown}
        assert set(shown.values()) > {None}
        assert "dots: compared with trained" in screen.text()

    screen.eventually(check)


def assert_unmarked(screen):
    selector = "[data-change], .bar-ghost, [data-was], .ring:not([hidden])"

    def check():
        assert screen.page.evaluate("(s) => crfviz.all(s).length", selector) == 0
        assert "dots: compared with trained" not in screen.text()

    screen.eventually(check)


def test_trained_values_stay_marked_until_reset(screen):
    screen.open("transitions", sentence=SENTENCE, **EDITED)
    expect(screen.cell("DET", "NOUN")).to_have_attribute("data-change", "down")
    assert screen.cell("DET", "ADJ").get_attribute("data-change") is None
    expect(screen.page.locator(".line.ghost")).to_have_attribute("d", re.compile("."))
    pairs = zip(TRAINED.analysis.viterbi.path, NOW.analysis.viterbi.path, strict=True)
    expected = [TRAINED.tags[a] if a != b else None for a, b in pairs]
    screen.expect_measured(
        """() => crfviz.all("[data-row=viterbi]").map((cell) => cell.dataset.was ?? null)""",
        expected,
    )
    assert any(expected)
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    assert_unmarked(screen)
    with screen.redraw():
        screen.type_score(screen.cell("DET", "NOUN"), "-inf")
    expect(screen.cell("DET", "NOUN")).to_have_attribute("data-change", "down")


@pytest.mark.rotating
def test_bars_have_a_tick_at_the_trained_value(screen):
    screen.open("marginals", sentence=SENTENCE, **EDITED)
    assert_marked(screen, "marginals", 2)
    screen.page.locator("[data-table=marginals][data-t='1']").first.hover()
    before = TRAINED.analysis.forward_backward.marginals[1].tolist()

    def check():
        found = screen.page.evaluate(
            """() => crfviz.all(".bar-row").map((row) => [
                 row.querySelector(".bar-name").textContent,
                 row.querySelector(".bar-ghost").style.getPropertyValue("--at")])"""
        )
        assert found
        for tag, at in found:
            expected = 100 * before[TRAINED.tags.index(tag)]
            assert float(at.removesuffix("%")) == pytest.approx(expected, abs=0.006)

    screen.eventually(check)


@pytest.mark.rotating
def test_cells_are_marked_by_the_sign_of_change_and_the_panel_shows_the_trained_value(screen):
    screen.open("forward-backward", sentence=SENTENCE, **EDITED)
    assert_marked(screen, "alpha", 1)
    assert_marked(screen, "beta", 1)
    k = TRAINED.tags.index("NOUN")
    screen.page.locator(f"[data-table=alpha][data-t='2'][data-k='{k}']").click()
    value = TRAINED.analysis.forward_backward.log_alpha[2, k].item()
    text = f"trained {value:.4f}".replace("-", "−")
    expect(screen.page.locator(".values")).to_contain_text(text)
