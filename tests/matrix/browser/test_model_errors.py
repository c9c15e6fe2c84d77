"""Sentences of every list of the model's errors open in the explorer."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.test_model_errors import TAGGED, confirm, explorer_of, says, upload
from tests.support.screen import PATIENCE


@pytest.mark.parametrize("column", [0, 1], ids=["first", "second"])
def test_differing_sentence_opens_under_either_model(screen, column):
    view = {"v.tab": "Two models", "v.kind_of": "loss"}
    screen.visit("model-errors", model="upos-en", **view)
    says(screen, "Sentences: loss")
    with explorer_of(screen, "Sentences: loss", column) as explorer:
        model = parse_qs(urlsplit(explorer.url).query).get("model")
        assert (model is None) == (column == 0)  # the default is not named
        expect(explorer.get_by_text("not the gold tag")).to_be_visible(timeout=PATIENCE)


def test_entity_missing_in_gold_opens_in_the_explorer(screen):
    screen.visit("model-errors", model="ner-en", **{"v.tab": "Is it the gold?"})
    with explorer_of(screen, "Entities in gold or in the prediction alone") as explorer:
        expect(explorer.get_by_text("not the gold tag")).to_be_visible(timeout=PATIENCE)


def test_suspect_opens_in_the_explorer(screen):
    view = {"v.corpus": "file", "v.tab": "Is it the gold?"}
    screen.visit("model-errors", model="upos-en", **view)
    upload(screen, TAGGED)
    confirm(screen)
    with explorer_of(screen, "Gold tags to review") as explorer:
        expect(explorer.get_by_text("not the gold tag")).to_be_visible(timeout=PATIENCE)
