"""Changing numbers: by typing, dragging, keys and buttons, and taking it back."""

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from tests.support.screen import (
    MODEL,
    SENTENCE,
    assert_lattice,
    assert_matrix,
    assert_rows,
    assert_table,
    chain,
    named,
    number,
    with_cell,
)


def assert_edited(screen, edits, *, sentence=SENTENCE, model=MODEL):
    """Rows, lattice, matrix and count are those of the library's chain with these edits."""
    expected = chain(model, sentence, edits)

    def check():
        shown = screen.read()
        assert shown.source == "python"
        assert_rows(shown, expected)
        assert_lattice(shown, expected)
        if shown.cells:
            assert_matrix(shown, expected)

    screen.expect_edits(len(edits))
    screen.eventually(check)


@pytest.mark.rotating
def test_typing_works_as_the_first_action_on_a_cold_page(screen):
    screen.page.goto(screen.address("transitions"))
    cell = screen.cell("PRON", "VERB")
    cell.click()
    with screen.redraw():
        screen.press(*"-2.5", "Enter")
    assert_edited(screen, with_cell("PRON", "VERB", -2.5))
    screen.expect_param("t", "PRON.VERB:-2.5")
    expect(cell).to_have_attribute("data-edited", "true")


def test_cells_accept_numbers_by_click_and_by_focus(screen):
    screen.open("transitions")
    cell = screen.cell("DET", "NOUN")
    tags = chain().tags
    trained = chain().analysis.potentials.transitions[tags.index("DET"), tags.index("NOUN")].item()
    before = cell.inner_text()
    cell.click()
    screen.press(*"99", "Escape")
    expect(cell).to_have_text(before)
    screen.expect_edits(0)
    cell.focus()  # without a click typing replaces the number
    with screen.redraw():
        screen.press(*"4,5", "Tab")
    assert_edited(screen, with_cell("DET", "NOUN", 4.5))
    cell.focus()
    for text in ("1.25", "1.5"):  # the focus stays
        with screen.redraw():
            screen.press(*text, "Enter")
    edits = with_cell("DET", "NOUN", 1.5)
    for source, target, text in (
        ("START", "DET", "6"),
        ("PUNCT", "END", "-1"),
        ("PRON", "VERB", "-inf"),
    ):
        screen.type_score(screen.cell(source, target), text)
        edits = edits.with_transition(source, target, float(text))
    expect(screen.cell("PRON", "VERB")).to_have_text("−∞")
    assert_edited(screen, edits)
    screen.cell("PRON", "VERB").press("Delete")
    screen.type_score(cell, repr(trained))  # the trained score is no edit
    edits = edits.without(("PRON", "VERB")).without(("DET", "NOUN"))
    assert_edited(screen, edits)


def test_dragging_updates_the_picture_and_equals_python(screen):
    screen.open("transitions")
    cell = screen.cell("DET", "VERB")
    before = screen.read()
    screen.drag(cell, up=150, drop=False)
    screen.page.wait_for_function("crfviz.stage().dataset.source === 'live'")
    wanted = number(before.cells["DET,VERB"]) + 150 * 0.02

    def follows():
        score = number(cell.get_attribute("aria-valuetext"))
        assert score == pytest.approx(wanted, abs=1e-3)
        dragging = screen.read()
        expected = chain(edits=with_cell("DET", "VERB", score))
        assert_rows(dragging, expected)
        assert_lattice(dragging, expected)
        assert dragging.marginals != before.marginals
        return score, dragging

    score, dragging = screen.eventually(follows)
    screen.expect_edits(0)
    with screen.redraw():
        screen.page.mouse.up()

    def agrees():
        shown = screen.read()
        assert shown.source == "python"
        assert shown.marginals == pytest.approx(dragging.marginals, abs=1.1e-6)

    screen.eventually(agrees)
    assert_edited(screen, with_cell("DET", "VERB", score))


@pytest.mark.rotating
def test_drag_survives_the_response_to_the_previous_edit(screen):
    screen.open("transitions")
    screen.type_score(screen.cell("DET", "NOUN"), "2")
    before = screen.page.evaluate("crfviz.mark()")
    screen.drag(screen.cell("PRON", "VERB"), up=50, drop=False)
    screen.page.wait_for_function("document.URL.includes('DET.NOUN')")
    screen.page.mouse.up()
    screen.page.wait_for_function("document.URL.includes('PRON.VERB')")
    screen.wait(before)
    score = number(screen.read().cells["PRON,VERB"])
    edits = Edits(transitions={("DET", "NOUN"): 2.0, ("PRON", "VERB"): score})
    assert_edited(screen, edits)


@pytest.mark.rotating
def test_arrow_keys_change_a_score_by_steps(screen):
    screen.open("transitions")
    cell = screen.cell("DET", "NOUN")
    start = number(cell.get_attribute("aria-valuetext"))
    cell.focus()
    with screen.redraw():
        screen.press("Alt+ArrowUp", "Alt+ArrowUp", "Alt+Shift+ArrowDown")
    screen.page.wait_for_function("document.URL.includes('DET.NOUN')")

    def nudged():
        score = number(cell.get_attribute("aria-valuetext"))
        assert score == pytest.approx(start + 0.1 + 0.1 - 1, abs=1e-5)
        return score

    score = screen.eventually(nudged)
    assert_edited(screen, with_cell("DET", "NOUN", score))


def test_undo_and_redo_work_by_keys_and_in_the_sidebar(screen):
    screen.open("transitions")
    one = with_cell("DET", "NOUN", 1.0)
    two = Edits(transitions={("DET", "NOUN"): 1.0, ("PRON", "VERB"): 2.0})
    for cell, text in (("DET,NOUN", "1"), ("PRON,VERB", "2")):
        with screen.redraw():
            screen.type_score(screen.cell(*cell.split(",")), text)
    undo, redo = (screen.page.locator(f".st-key-{key} button") for key in ("undo", "redo"))
    for act, edits in [
        (lambda: screen.press("Control+z"), one),
        (lambda: screen.press("Control+Shift+z"), two),
        (undo.click, one),
        (redo.click, two),
    ]:
        with screen.redraw():
            act()
        assert_edited(screen, edits)


@pytest.mark.rotating
def test_strength_presets_and_reset_are_undone_and_the_sentence_box_has_its_own_undo(screen):
    screen.open("transitions", t="DET.NOUN:1,PRON.VERB:-2", k="0.5")
    edits = Edits(transitions={("DET", "NOUN"): 1.0, ("PRON", "VERB"): -2.0}, strength=0.5)
    assert_edited(screen, edits)
    screen.sentence.click()
    screen.press(*"abc", "Control+z")
    screen.expect_edits(len(edits))
    screen.press("Escape")
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    assert_edited(screen, Edits())
    with screen.redraw():
        screen.page.locator(".st-key-undo button").click()
    assert_edited(screen, edits)
    buttons = screen.page.locator("[data-stage] .controls")
    with screen.redraw():
        buttons.get_by_text("all zero").click()
    assert_edited(screen, Edits(strength=0.0))
    shown = screen.read()
    assert shown.rows["viterbi"] == shown.rows["greedy"]
    with screen.redraw():
        buttons.get_by_text("as trained").click()
    assert_edited(screen, Edits())
    slider = screen.page.locator("[data-strength]")
    for key, strength in (("Home", 0.0), ("End", 2.0), ("ArrowLeft", 1.95)):
        with screen.redraw():
            slider.press(key)
        assert_edited(screen, Edits(strength=strength))
    with screen.redraw():
        buttons.get_by_text("undo").click()
    assert_edited(screen, Edits(strength=2.0))


@pytest.mark.rotating
def test_bio_rules_can_be_disabled_and_enabled(screen):
    sentence = "Maria Rossi moved from Siemens to Bosch in Berlin ."
    screen.open("transitions", model="ner-en", sentence=sentence)
    rules = screen.page.locator("[data-stage] .controls").get_by_text("BIO rules")
    for edits in (Edits(constrained=False), Edits()):
        with screen.redraw():
            rules.click()
        assert_edited(screen, edits, sentence=sentence, model="ner-en")


def test_emissions_are_edited_in_their_table(screen):
    screen.open("emissions")
    k = chain().tags.index("NOUN")
    with screen.redraw():
        screen.type_score(screen.emission(1, k), "12.5")
    expected = chain(edits=Edits(emissions={(1, "NOUN"): 12.5}))

    def check():
        shown = screen.read()
        assert_rows(shown, expected)
        assert_table(shown, "emissions", expected.analysis.potentials.emissions)
        assert shown.rows["greedy"] == named(expected.analysis.greedy, expected.tags)

    screen.eventually(check)
    screen.expect_param("e", "1.NOUN:12.5")
    screen.drag(screen.emission(0, k), up=100)
    screen.page.wait_for_function("document.URL.includes('0.NOUN')")
    screen.expect_edits(2)


@pytest.mark.rotating
def test_edits_in_quick_succession_all_arrive(screen):
    screen.open("transitions")
    screen.cell("DET", "NOUN").focus()
    with screen.redraw():
        screen.press(*"1", "Enter", "ArrowDown", *"2", "Enter", "ArrowDown", *"3", "Enter")
    screen.page.wait_for_function("(document.URL.match(/NOUN%3A|NOUN:/g) ?? []).length === 3")
    linked = (text.rsplit(":", 1) for text in screen.params()["t"].split(","))
    transitions = {tuple(cell.split(".")): float(score) for cell, score in linked}
    assert sorted(transitions.values()) == [1, 2, 3]
    assert_edited(screen, Edits(transitions=transitions))
