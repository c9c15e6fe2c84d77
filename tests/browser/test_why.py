"""Why this tag: the gap word by word, pins, tipping points, and cells that explain themselves."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.questions.conditioning import condition, why_not
from crfviz.chain.questions.flips import smallest_flips
from crfviz.chain.questions.tipping import tipping_points
from crfviz.taggers.attribution import attribute
from crfviz.taggers.registry import load_tagger
from crfviz.views.formatting import differing
from tests.support.screen import SENTENCE, chain, named

TERMS = """() => crfviz.all(".terms .term[data-term]").map((row) => [
  Number(row.dataset.term), ...[...row.querySelectorAll(".term-bar")].map((bar) => bar.title)])"""


def scores(text):
    return float(text.replace("−", "-"))


def click_node(screen, t, k):
    screen.node(t, k).locator(".hit").click(force=True)


def test_bars_of_a_clicked_tag_sum_to_the_gap(screen):
    now = chain()
    k = now.tags.index("NOUN")
    screen.open("why")
    expect(screen.page.get_by_test_id("stDataFrame")).to_be_visible()
    first = smallest_flips(now.analysis.potentials, 1)[0]
    screen.wait_for_text(f"a change of {first.change:+.3f}".replace("-", "−"))
    with screen.redraw():
        click_node(screen, 1, k)
        screen.expect_param("v.at", "1 NOUN")
    expected = why_not(now.analysis.potentials, 1, k)

    def check():
        bars = {t: (scores(step), scores(word)) for t, step, word in screen.page.evaluate(TERMS)}
        for t, (step, word) in bars.items():
            assert step == pytest.approx(expected.transition_terms[t].item(), abs=1e-6)
            if t < len(now.words):
                assert word == pytest.approx(expected.emission_terms[t].item(), abs=1e-6)
        shown = sum(map(sum, bars.values()))
        hidden = 5e-3 * 2 * (len(now.words) + 1 - len(bars))  # rows of next to nothing are left out
        assert shown == pytest.approx(expected.gap, abs=hidden + 1e-5)
        assert screen.read().rows["why"] == named(expected.path, now.tags)
        assert f"{expected.gap:.2f} nats" in screen.read().note

    screen.eventually(check)


@pytest.mark.rotating
def test_emission_bar_expands_into_its_words(screen):
    words = SENTENCE.split()
    screen.open("why", model="upos-en", sentence=SENTENCE, **{"v.at": "2 NOUN"})
    tagger = load_tagger("upos-en")
    asked = why_not(tagger.potentials(words), 2, tagger.tags.index("NOUN"))
    places = differing(asked.best, asked.path)
    assert len(places) > 1
    bars = screen.page.locator(".terms button.term-bar")
    for t in reversed(places):
        bar = bars.nth(t)
        bar.focus()
        screen.press("Enter")
        screen.expect_param("v.because", str(t))
        found = attribute(tagger, words, t, asked.best[t], asked.path[t])
        screen.wait_for_text(f"{found.gap:+.2f} nats, as trained".replace("-", "−"))


def test_linked_question_can_be_pinned_and_shows_its_cost(screen):
    free = chain()
    noun = free.tags.index("NOUN")
    screen.open("why", **{"v.at": "1 NOUN"})
    asked = why_not(free.analysis.potentials, 1, noun)
    assert screen.read().rows["why"] == named(asked.path, free.tags)
    with screen.redraw():
        screen.page.get_by_role("button", name="Pin NOUN at word 2").click()
    given = condition(free.analysis.potentials, {1: "NOUN"})
    screen.wait_for_text(f"P(pins | x) = {given.probability:.4f}")
    screen.expect_param("p", "1.NOUN")
    settled = viterbi(free.analysis.potentials.pin({1: "NOUN"}))

    def check():
        shown = screen.read()
        assert shown.marginals[f"1,{noun}"] == 1
        assert shown.rows["viterbi"] == named(settled.path, free.tags)

    screen.eventually(check)


# The names of pieces at the pointer or the line of the trained value, and which of them these hide:
# what is drawn after a name, where it stands.
POINTED = """() => {
  const box = (element) => element.getBoundingClientRect();
  const over = (a, b) => a.left < b.right && b.left < a.right;
  const beside = (a, b) => a.top < b.bottom && b.top < a.bottom;
  const later = (a, b) => b.compareDocumentPosition(a) & Node.DOCUMENT_POSITION_FOLLOWING;
  const labels = crfviz.all(".ruler-label");
  const pairs = crfviz.all(".ruler-now, .ruler-trained").flatMap((mark) =>
    labels.filter((label) => over(box(mark), box(label))).map((label) => [mark, label]));
  const hidden = pairs.filter(([mark, label]) =>
    later(mark, label) && beside(box(mark), box(label)));
  return [pairs.length, hidden.map(([, label]) => label.textContent)];
}"""


@pytest.mark.rotating
def test_ruler_breaks_where_the_best_path_changes_and_hides_no_name(screen):
    screen.open("transitions")
    cell = screen.cell("DET", "NOUN")
    with screen.redraw():
        cell.click()
        screen.expect_param("v.weight", "DET NOUN")
    pieces = tipping_points(chain().analysis.potentials, ("transition", "DET", "NOUN"))
    ruler = screen.page.locator("[data-ruler]")
    expect(ruler.locator("[data-piece]")).to_have_count(len(pieces))
    breaks = [piece.low for piece in pieces[1:]]
    drawn = ruler.locator("[data-break]").evaluate_all("all => all.map((e) => +e.dataset.break)")
    near = [value for value in breaks if any(abs(value - mark) < 1e-9 for mark in drawn)]
    assert drawn == pytest.approx(near, abs=1e-9)
    assert drawn
    told = ", ".join(f"{value:.3f}".replace("-", "−") for value in breaks)
    expect(ruler.locator("svg")).to_have_attribute("aria-label", re.compile(re.escape(told)))
    pointed = 0
    for value in range(-6, 7):
        with screen.redraw():
            screen.type_score(cell, str(value))
        number, hidden = screen.page.evaluate(POINTED)
        assert hidden == [], value
        pointed += number
    assert pointed


@pytest.mark.rotating
def test_cell_explains_itself_by_keyboard_and_switches_sum_to_max(screen):
    now = chain()
    tables = now.analysis.forward_backward
    t, k = 2, now.tags.index("ADJ")
    screen.open("forward-backward")
    screen.page.locator(f"[data-table=alpha][data-t='{t}'][data-k='{k}']").click()
    panel = screen.page.locator(".candidates")
    expect(panel.locator(".side-title")).to_have_text("ADJ at “fine”")
    rows = panel.locator(".candidate:not(.candidate-head):not([hidden])")
    expect(rows).to_have_count(len(now.tags))
    sums = [scores(text) for text in rows.locator("span:last-child").all_inner_texts()]
    assert sums == sorted(sums, reverse=True)
    potentials = now.analysis.potentials
    before = tables.log_alpha[t - 1] + potentials.transitions[:, k] + potentials.emissions[t, k]
    assert sums == pytest.approx(sorted(before.tolist(), reverse=True), abs=0.0051)
    values = panel.locator(".values")
    expect(values).to_contain_text(f"log Σ exp = {tables.log_alpha[t, k]:.4f}".replace("-", "−"))
    expect(values).to_contain_text(f"max = {before.max():.4f}".replace("-", "−"))
    lit = screen.page.evaluate(
        "crfviz.all('[data-table=alpha][data-lit]').map((cell) => cell.dataset.t)"
    )
    assert lit
    assert set(lit) == {str(t - 1)}
    slider = panel.locator("[data-temperature]")
    slider.focus()
    screen.press("ArrowLeft")
    expect(values).to_contain_text("τ = 0.99")
    screen.press("Home")
    expect(slider).to_have_value("0")
    focused = screen.page.locator(f"[data-table=alpha][data-t='{t}'][data-k='{k}']")
    focused.focus()
    screen.press("ArrowRight")
    expect(panel.locator(".side-title")).to_have_text("ADJ at “to”")


@pytest.mark.rotating
def test_marginal_explains_itself_beside_the_bars(screen):
    now = chain()
    tables = now.analysis.forward_backward
    t, k = 1, now.tags.index("NOUN")
    screen.open("marginals")
    screen.page.locator(f"[data-table=marginals][data-t='{t}'][data-k='{k}']").click()
    numbers = (tables.log_alpha[t, k], tables.log_beta[t, k], tables.log_partition)
    alpha, beta, log_z = (f"{number:.4f}".replace("-", "−") for number in numbers)
    formula = screen.page.locator(".bars .formula")
    expect(formula).to_contain_text(f"p(NOUN) = exp({alpha} + {beta} − {log_z}) = ")
    shown = float(formula.inner_text().rpartition("= ")[2])
    assert shown == pytest.approx(tables.marginals[t, k].item(), rel=1e-5)
    screen.page.locator(".word").nth(3).hover()
    expect(screen.page.locator(".bars .side-title")).to_have_text(f"“{now.words[3]}”")
