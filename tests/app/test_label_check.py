"""Model errors: the check of the labels by CRFs that did not see them."""

from dataclasses import replace

import pytest

import crfviz
from crfviz.ui.errors import label_check
from crfviz.ui.session import scheduling as turns
from tests.support.app_pages import button, open_at

PAGE = "pages/model-errors.py"
COLUMN = "log odds, nats"


@pytest.fixture
def sentences():
    return crfviz.read_sentences("models/excerpts/ewt-dev.conllu")


@pytest.fixture
def opened(app, monkeypatch, request):
    """The page without an earlier result of another test."""
    own = replace(label_check.CHECK, name=f"labels of {request.node.name}")
    monkeypatch.setattr(label_check, "CHECK", own)
    app.query_params.update({"model": "upos-en", "v.tab": "Is it the gold?"})
    return open_at(app, PAGE)


def lists(app):
    return [frame.value for frame in app.dataframe if COLUMN in frame.value]


def test_button_lists_the_label_errors_of_the_library(opened, sentences):
    assert not lists(opened)
    button(opened, label_check.BUTTON).click().run()
    assert not opened.exception
    (table,) = lists(opened)
    found = crfviz.label_errors(sentences)[: len(table)]
    assert len(found) > 20
    places = list(zip(table["sentence"] - 1, table["position"] - 1, strict=True))
    assert places == [(each.sentence, each.position) for each in found]
    assert list(table["gold"]) == [each.given for each in found]
    assert list(table["likely"]) == [each.likely for each in found]
    assert all("model=upos-en" in address for address in table["explore"] if address)


def test_only_a_model_that_agrees_with_nearly_all_labels_is_doubted(opened, sentences, monkeypatch):
    assert not opened.warning
    tagger = crfviz.load_tagger("upos-en")
    chains = tagger.potentials_batch([each.tokens for each in sentences])
    pairs = [
        (tagger.tags[tag], gold)
        for chain, each in zip(chains, sentences, strict=True)
        for tag, gold in zip(crfviz.viterbi(chain).path, each.tags, strict=True)
    ]
    share = sum(tag == gold for tag, gold in pairs) / len(pairs)
    monkeypatch.setattr(label_check, "BY_HEART", share - 0.001)
    opened.run()
    assert [each.value for each in opened.warning] == [
        f"The model agrees with {100 * share:.1f} % of these labels: it may know them by heart."
    ]
    monkeypatch.setattr(label_check, "BY_HEART", share + 0.001)
    assert not opened.run().warning


def test_full_queue_is_reported(opened, monkeypatch):
    monkeypatch.setenv("CRFVIZ_LIMITS", "line=1")
    monkeypatch.setattr(turns.JOB_QUEUE, "_queue", [turns.Ticket("somebody else", before=0)])
    button(opened, label_check.BUTTON).click().run()
    assert "queue of this server is full" in opened.info[0].value
    assert not lists(opened)


def test_large_file_is_sampled_with_a_note(opened, monkeypatch):
    monkeypatch.setattr(label_check, "MAX_WORDS_CHECKED", 300)
    button(opened, label_check.BUTTON).click().run()
    captions = "".join(caption.value for caption in opened.caption)
    assert "of 150: at most 300 words are checked" in captions
    assert lists(opened)
