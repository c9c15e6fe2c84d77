"""Model errors in the browser: transitions are fitted, stopped, and opened in Explore."""

import pytest
from playwright.sync_api import expect

from tests.support.screen import PATIENCE

TAB = {"v.tab": "What the CRF buys"}


@pytest.mark.rotating
def test_fitted_transitions_open_a_sentence_in_explore(screen):
    screen.visit("model-errors", model="upos-en-contextfree", **TAB)
    page = screen.page
    page.get_by_role("button", name="Fit transitions").click()
    answer = page.get_by_text("On these 150 sentences a CRF layer adds")
    expect(answer).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Fit transitions")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.get_by_text("by keyboard").last.click()
    page.get_by_role("link", name="open").first.click()
    expect(page.get_by_text("323 edits")).to_be_visible(timeout=PATIENCE)


@pytest.mark.rotating
def test_fitting_can_be_stopped_and_restarted(screen):
    screen.visit("model-errors", model="upos-en-hmm", **{"v.corpus": "file"}, **TAB)
    page = screen.page
    some = "".join(f"The\tDET\ndog{n}\tNOUN\nbarks\tVERB\n.\tPUNCT\n\n" for n in range(4000))
    file = {"name": "dogs.conll", "mimeType": "text/plain", "buffer": some.encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Use these sentences").click()
    start = page.get_by_role("button", name="Fit transitions")
    start.click()
    expect(start).to_be_disabled()
    page.get_by_role("button", name="Stop").click()
    expect(start).to_be_enabled(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text("a CRF layer adds")).to_have_count(0)
    start.click()
    expect(page.get_by_text("a CRF layer adds")).to_be_visible(timeout=PATIENCE)
