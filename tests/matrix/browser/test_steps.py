"""Every page that tells a story has steps that uncover it."""

import pytest

from tests.browser.test_steps import seen
from tests.support.screen import MODEL, SENTENCE


@pytest.mark.parametrize("path", ["marginals", "learn", "hmm"])
def test_steps_reveal_the_whole_page(screen, path):
    screen.open(path, model=MODEL, sentence=SENTENCE)
    whole = seen(screen)
    assert whole["step"] == whole["steps"] > 2
    screen.press("Home")
    shown = seen(screen)
    assert (shown["step"], shown["columns"], shown["rows"], shown["note"]) == (0, [], {}, "")
    assert shown["tables"]["marginals"] == []
    assert screen.page.locator("[data-weight]").count() == 0
    assert (screen.page.locator("[data-cell]").count() > 0) == (path == "learn")
    for _ in range(whole["steps"]):
        screen.press("ArrowRight")
    after = seen(screen)
    assert (after["rows"], after["note"]) == (whole["rows"], whole["note"])
    assert after["tables"] == whole["tables"]
