"""Input that goes wrong, on every page: a plain message, and the edits stay."""

import re

import pytest
from playwright.sync_api import expect

from crfviz.chain.edits import Edits
from crfviz.text.tokenizer import tokenize
from tests.browser.test_bad_input import HOSTILE, LINK, assert_kept
from tests.support.screen import OF_SENTENCE, SENTENCE, assert_rows, chain, tagger

WITHOUT_PATH = "No tag sequence is allowed|log Z = −∞"


@pytest.mark.parametrize("path", OF_SENTENCE)
def test_hostile_and_long_sentences_are_text(screen, path):
    long = " ".join(f"w{i}" for i in range(200))
    screen.open(path, sentence=HOSTILE, **{"v.twin": "1"}, **LINK)
    screen.expect_param("v.twin", "1")
    words = [token.text for token in tokenize(HOSTILE)]
    expect(screen.page.locator("[data-stage] .word span")).to_have_text(words)
    expect(screen.sentence).to_have_value(HOSTILE)
    assert_kept(screen, HOSTILE)
    assert screen.page.evaluate("window.hacked") is None
    assert screen.page.locator("[data-testid=stMain] img").count() == 0
    screen.type_sentence(long)
    expect(screen.page.locator("[data-stage] .word")).to_have_count(120)
    if screen.page.locator(".overview").count() == 0:
        screen.wait_for_text("The first 120 of 200 words are drawn.")
    assert_kept(screen, long)


@pytest.mark.parametrize("path", OF_SENTENCE)
def test_every_page_reports_a_chain_without_a_path_until_reset(screen, path):
    forbidden = {("START", tag): float("-inf") for tag in tagger().tags}
    link = ",".join(f"START.{tag}:-inf" for tag in tagger().tags)
    screen.open(path, t=link)
    expected = chain(edits=Edits(transitions=forbidden))

    def without_path():
        assert re.search(WITHOUT_PATH, screen.text())
        assert screen.text().count("Undo an edit, or restore") <= 1
        shown = screen.read()
        assert_rows(shown, expected)
        assert shown.words == expected.words

    def with_paths():
        assert not re.search(WITHOUT_PATH, screen.text())

    screen.eventually(without_path)
    with screen.redraw():
        screen.page.locator(".st-key-reset button").click()
    assert_kept(screen, SENTENCE, Edits())
    screen.eventually(with_paths)
