"""Learn: right tags by click and key, the gradient beside the weights, a step and its undo."""

import pytest

from crfviz.chain.edits import END, START, Edits
from crfviz.chain.questions.sensitivity import gradient_step
from tests.support.screen import MODEL, assert_matrix, chain, named

SENTENCE = "Old dogs see the boat ."


def shown_gradient(screen):
    """What each cell of the gradient that is not folded away says after its last equals sign."""
    cells = screen.page.locator("[data-weight]:visible")
    texts = cells.evaluate_all("cells => cells.map((cell) => [cell.dataset.weight, cell.title])")
    return {cell: float(title.split("= ")[-1]) for cell, title in texts}


def assert_learning(screen, right, *, taken=0):
    """Right tags, gradient, weights and edits are the library's after so many steps of 0.5."""
    expected = chain(MODEL, SENTENCE)
    before = expected.analysis.potentials
    for _ in range(taken):
        wanted = gradient_step(before, right, 0.5).potentials
        before = Edits().reaching(before, wanted).apply(before)
    step = gradient_step(before, right, 0.5)
    tables, names = step.difference, expected.tags

    def value(source, target):
        if source == START:
            return tables.start[names.index(target)]
        if target == END:
            return tables.end[names.index(source)]
        return tables.transitions[names.index(source), names.index(target)]

    def check():
        shown = screen.read()
        assert shown.rows["gold"] == list(right)
        found = shown_gradient(screen)
        assert len(found) > 20
        for cell, difference in found.items():
            assert difference == pytest.approx(value(*cell.split(",")).item(), abs=1e-6), cell
        numbers = (step.loss_before, step.loss_after, step.predicted)
        for number in numbers:
            assert f"{number:.4f}".replace("-", "−") in shown.note

    screen.eventually(check)
    return before


def test_gold_tags_are_marked_and_a_step_is_taken_and_undone(screen):
    screen.open("learn", sentence=SENTENCE)
    expected = chain(MODEL, SENTENCE)
    right = named(expected.analysis.viterbi.path, expected.tags)
    assert_learning(screen, right)
    trained = screen.read()

    tag = "NOUN" if right[1] != "NOUN" else "ADJ"
    screen.node(1, expected.tags.index(tag)).click()
    right[1] = tag
    assert_learning(screen, right)
    screen.expect_param("r", f"1.{tag}")

    screen.node(1, expected.tags.index(tag)).focus()
    screen.press("ArrowRight", "Enter")
    right[2] = tag
    assert_learning(screen, right)

    screen.page.get_by_role("button", name="Take the step").click()
    after = assert_learning(screen, right, taken=1)
    expected.analysis = type("Moved", (), {"potentials": after})
    screen.eventually(lambda: assert_matrix(screen.read(), expected))

    screen.press("Control+z")
    assert_learning(screen, right)
    screen.expect_edits(0)

    def is_trained():
        assert screen.read().cells == trained.cells

    screen.eventually(is_trained)
