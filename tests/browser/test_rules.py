"""Rules in a browser: transitions by state are one weight, and it decodes as Python does."""

import math
import re
from urllib.parse import parse_qs

import pytest
import torch
from playwright.sync_api import expect

from crfviz import Potentials, match
from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.patterns import automaton
from crfviz.chain.questions.rules import analyse_match
from crfviz.exceptions import NoPathError
from crfviz.ui.pictures import GIVEN
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, Origin, data
from crfviz.views.formatting import score
from crfviz.views.strips.paths import entropy_note
from tests.support.screen import assert_lattice, assert_matrix, chain, named, number, with_cell

RULE = "[^ VERB]* VERB? [^ VERB]*"
SOURCE, TARGET = "PRON·1", "ADP·1"


def by_state(edits=None):
    """The chain of the screen times the automaton of the rule."""
    expected = chain(edits=edits)
    expected.analysis = analyse(expected.analysis.potentials.constrained(RULE))
    expected.tags = list(expected.analysis.tags)
    return expected


def test_a_dragged_transition_moves_all_its_copies_and_python_agrees(screen):
    screen.open("rules", **{"v.rule": RULE, "v.rules": "states", "v.folded": "no"})
    screen.eventually(lambda: assert_matrix(screen.read(), by_state()))
    cell = screen.cell(SOURCE, TARGET)
    before = number(cell.get_attribute("aria-valuetext"))
    screen.drag(cell, up=120, drop=False)

    def follows():
        score = number(cell.get_attribute("aria-valuetext"))
        assert score == pytest.approx(before + 120 * 0.02, abs=1e-3)
        shown, expected = screen.read(), by_state(with_cell("PRON", "ADP", score))
        assert_lattice(shown, expected)
        assert_matrix(shown, expected)
        return score

    score = screen.eventually(follows)
    with screen.redraw():
        screen.page.mouse.up()
    screen.expect_edits(1)
    screen.expect_param("t", f"PRON.ADP:{score:g}")

    def agrees():
        shown = screen.read()
        assert shown.source == "python"
        assert_lattice(shown, by_state(with_cell("PRON", "ADP", score)))

    screen.eventually(agrees)


def test_keys_step_through_the_lattice_by_state(screen):
    screen.open("rules", **{"v.rule": RULE, "v.rules": "states"})
    screen.press("Home", "ArrowRight")
    screen.expect_param("step", "1")
    screen.wait_for_text("Start: each tag of “These” by itself.")
    for k, value in enumerate(by_state().analysis.best[0].tolist()):
        expect(screen.node(0, k)).to_have_accessible_name(re.compile(f"best {score(value, 4)}$"))
    expect(screen.cell(SOURCE, TARGET)).to_be_visible()
    screen.press("End")
    screen.expect_param("step", None)
    screen.wait_for_text("those of a tag’s rows sum to its marginal under the rule")


ANSWER = """
(given) => {
  %s
  const [told, events] = given;
  const local = new %s.LocalBackend(told, { turned: () => null, beyond: () => null });
  const shown = () => local.payload().rows.find((row) => row.id === "rule");
  const before = shown();
  local.take(events);
  return { before, after: shown(), query: local.query() };
}
"""
RULES = ["A* B [^ B]*", ". .*", "(A B|C)* D?", "D{6}", "A{4}", "[^ A]* A? [^ A]*"]


def row_of(potentials, rule):
    try:
        found = match(potentials, rule)
    except NoPathError:
        return None, "−∞"
    return found.path, f"−{found.cost:.2f}" if found.cost else ""


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", ["one matrix", "a matrix a step", "one word"])
def test_a_live_file_decodes_under_the_rule_as_python_does(chromium, rule, shape):
    generator = torch.Generator().manual_seed(5)
    T = 1 if shape == "one word" else 6
    steps = (T - 1,) if shape == "a matrix a step" else ()
    e, w, s, f = (
        2 * torch.randn(*size, generator=generator) for size in ((T, 4), (*steps, 4, 4), (4,), (4,))
    )
    potentials = Potentials(e, w, s, f, tags=list("ABCD"))
    live = Live(potentials, rule=automaton(rule, tuple("ABCD")), origin=Origin("upos-en", "a"))
    page = chromium.new_page()
    script = bundle.bundled(bundle.OWN / "local_backend.js")
    entry = re.findall(r"^const (m\d+) =", script, re.MULTILINE)[-1]
    events = [
        {"seq": 1, "kind": "transition", "from": "A", "to": "B", "score": 3.25},
        {"seq": 2, "kind": "emission", "position": 0, "tag": "D", "score": None},
    ]
    told = page.evaluate(ANSWER % (script, entry), [data(live, list(PAGES)), events])
    page.close()
    edited = Edits({("A", "B"): 3.25}, {(0, "D"): -math.inf}).apply(potentials)
    for name, known in (("before", potentials), ("after", edited)):
        assert (told[name]["tags"], told[name]["value"]) == row_of(known, rule), name
    assert parse_qs(told["query"])["v.rule"] == [rule]


COUNTED = """
(given) => {
  %s
  const [told, events] = given;
  const local = new %s.LocalBackend(told, { turned: () => null, beyond: () => null });
  local.take(events);
  const { results, tables, note, rows } = local.payload();
  const marginals = [...tables.find((table) => table.name === "marginals").values];
  const path = rows.find((row) => row.id === "viterbi").tags;
  return { log: results.logPartition, path, marginals, note, ids: rows.map((row) => row.id) };
}
"""


@pytest.mark.parametrize("edited", [False, True])
def test_marginals_of_a_live_file_are_given_the_rule(chromium, edited):
    generator = torch.Generator().manual_seed(6)
    e, w, s, f = (2 * torch.randn(*n, generator=generator) for n in ((5, 4), (4, 4), (4,), (4,)))
    potentials, rule = Potentials(e, w, s, f, tags=list("ABCD")), "[^ A]* (A [^ A]*)? B"
    live = Live(potentials, rule=automaton(rule, tuple("ABCD")), opens="marginals")
    page = chromium.new_page()
    script = bundle.bundled(bundle.OWN / "local_backend.js")
    entry = re.findall(r"^const (m\d+) =", script, re.MULTILINE)[-1]
    event = {"seq": 1, "kind": "transition", "from": "A", "to": "C", "score": 4.5}
    given = [data(live, list(PAGES)), [event] if edited else []]
    told = page.evaluate(COUNTED % (script, entry), given)
    page.close()
    chain = Edits({("A", "C"): 4.5}).apply(potentials) if edited else potentials
    found = match(chain, rule)
    assert told["path"] == found.path
    assert told["log"] == pytest.approx(found.log_partition, abs=1e-9)
    assert told["marginals"] == pytest.approx(found.marginals.flatten().tolist(), abs=1e-9)
    assert told["note"] == f"{GIVEN} {entropy_note(analyse_match(chain, rule))}"
    assert "rule" not in told["ids"]


@pytest.mark.rotating
def test_a_drag_moves_the_path_under_the_rule_on_other_pages(screen):
    rule = "[^ VERB]* VERB .*"
    screen.open("transitions", **{"v.rule": rule})
    screen.drag(screen.cell("PRON", "VERB"), up=-200, drop=False)
    screen.page.wait_for_function("crfviz.stage().dataset.source === 'live'")

    def follows():
        score = number(screen.cell("PRON", "VERB").get_attribute("aria-valuetext"))
        expected = chain(edits=with_cell("PRON", "VERB", score))
        found = match(expected.analysis.potentials, rule)
        assert screen.read().rows["rule"] == named(found.path, expected.tags)
        assert found.path != expected.analysis.viterbi.path

    screen.eventually(follows)
    screen.page.mouse.up()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("transitions", "Rule (path only): "),
        pytest.param("marginals", "Rule: ", marks=pytest.mark.rotating),
    ],
)
def test_the_sidebar_does_not_scroll_for_a_rule(screen, path, name):
    screen.open(path, **{"v.rule": RULE})
    expect(screen.page.locator(".st-key-no_rule button").first).to_contain_text(f"{name}{RULE}")
    bar = screen.page.get_by_test_id("stSidebarContent").element_handle()
    screen.expect_measured("(bar) => bar.scrollHeight - bar.clientHeight", 0, bar)
    screen.page.locator(".st-key-no_rule button").first.hover()
    expect(screen.page.get_by_role("tooltip")).to_contain_text("Click to remove it.")
