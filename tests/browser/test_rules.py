"""The page Rules in a browser: a transition of the lattice by state is one weight."""

import pytest

from crfviz.chain.decoding.analysis import analyse
from tests.support.screen import assert_lattice, assert_matrix, chain, number, with_cell

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
