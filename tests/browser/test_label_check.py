"""Model errors in the browser: the check of the labels is stopped, and begun again."""

import pytest
from playwright.sync_api import expect

from crfviz.ui.errors.label_check import BUTTON
from tests.support.screen import PATIENCE


@pytest.mark.rotating
def test_check_of_the_labels_can_be_stopped_and_restarted(screen):
    tab = {"v.corpus": "file", "v.tab": "Is it the gold?"}
    screen.visit("model-errors", model="upos-en-hmm", **tab)
    page = screen.page
    some = "".join(f"The\tDET\ndog{n}\tNOUN\nbarks\tVERB\n.\tPUNCT\n\n" for n in range(3000))
    file = {"name": "dogs.conll", "mimeType": "text/plain", "buffer": some.encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Use these sentences").click()
    start = page.get_by_role("button", name=BUTTON)
    start.click()
    expect(start).to_be_disabled()
    page.get_by_role("button", name="Stop").click()
    expect(start).to_be_enabled(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text("log odds, nats")).to_have_count(0)
    start.click()
    expect(start).to_be_disabled()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
