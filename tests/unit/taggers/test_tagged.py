"""Typed texts come back with words, tags, probabilities and places, from every kind of tagger."""

import json

import pytest

from crfviz.chain.forward_backward import forward_backward
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    ModelError,
    NoPathError,
    UnknownObservationError,
)
from crfviz.taggers.registry import bring, load_tagger
from tests.support import oracle

TEXTS = {
    "upos-en": "He can't  swim",
    "upos-en-contextfree": "\tThese look fine",
    "ner-en": "In New York City",
    "upos-en-hmm": "Don’t \n go",
    "upos-en-perceptron": "the the the",
    "upos-en-perceptron-greedy": "Wow 🇫🇷!",
    "textbook/ice-cream": "2  3 3",
    "textbook/label-bias": "r o b",
}


@pytest.mark.parametrize(("name", "text"), TEXTS.items())
def test_every_tagger_returns_the_best_path_with_marginals(name, text):
    tagger = load_tagger(name)
    found = tagger.tag(text)
    chain = tagger.potentials(found.words)
    best = max(oracle.paths(chain).items(), key=lambda item: item[1])[0]
    marginals = oracle.marginals(chain)
    assert found.tags == [tagger.tags[tag] for tag in best]
    expected = [marginals[t, tag] for t, tag in enumerate(best)]
    assert found.probabilities == pytest.approx(expected, abs=1e-9)
    assert found.text == text
    assert [text[start:end] for start, end in found.offsets] == found.words
    covered = {i for start, end in found.offsets for i in range(start, end)}
    assert covered == {i for i, letter in enumerate(text) if not letter.isspace()}


def test_probabilities_belong_to_the_best_path_not_the_likeliest_tags():
    tagger = load_tagger("upos-en-contextfree")
    found = tagger.tag("Which one should i get ?")
    tables = forward_backward(tagger.potentials(found.words)).marginals
    assert found.probabilities != pytest.approx(tables.amax(1).tolist(), abs=1e-3)
    own = [float(tables[t, tagger.tags.index(tag)]) for t, tag in enumerate(found.tags)]
    assert found.probabilities == pytest.approx(own, abs=1e-9)


def test_repeated_word_has_its_own_offsets():
    found = load_tagger("upos-en-hmm").tag("a an a")
    assert found.offsets == [(0, 1), (2, 4), (5, 6)]


def test_list_of_texts_equals_single_texts():
    tagger = load_tagger("upos-en")
    texts = ["These look fine.", "Go!", "They do not know how fine it is to be here ."]
    for text, found in zip(texts, tagger.tag(texts), strict=True):
        alone = tagger.tag(text)
        assert (found.text, found.words, found.tags) == (text, alone.words, alone.tags)
        assert found.offsets == alone.offsets
        assert found.probabilities == pytest.approx(alone.probabilities, abs=1e-4)
    assert tagger.tag([]) == []
    assert tagger.tag(("Go!",))[0].words == ["Go", "!"]


def test_imported_scores_tag_only_their_own_sentences(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path))
    file = tmp_path / "scores.json"
    sentence = {"tokens": ["The", "dog"], "emissions": [[1, 0], [0, 2]]}
    file.write_text(
        json.dumps({"tags": ["A", "B"], "transitions": [[0, 1], [1, 0]], "sentences": [sentence]})
    )
    tagger = bring(file)
    found = tagger.tag("The dog")
    assert (found.tags, found.offsets) == (["A", "B"], [(0, 3), (4, 7)])
    assert found.probabilities == pytest.approx(
        [oracle.marginals(tagger.potentials(found.words))[t, t] for t in (0, 1)], abs=1e-12
    )
    with pytest.raises(UnknownObservationError, match="the sentences of its file only"):
        tagger.tag("The cat")


def test_empty_or_non_string_text_is_rejected():
    tagger = load_tagger("upos-en-hmm")
    with pytest.raises(EmptySentenceError, match="got ' ' as text 2"):
        tagger.tag(["Go", " "])
    with pytest.raises(EmptySentenceError, match="got '' as text 1"):
        tagger.tag("")
    with pytest.raises(CrfvizError, match="a text or a list of texts, got 3 as text 1"):
        tagger.tag([3])
    with pytest.raises(CrfvizError, match="a text or a list of texts"):
        tagger.tag(3)


def test_text_without_a_path_is_rejected(monkeypatch):
    tagger = load_tagger("upos-en-hmm")
    chain = tagger.potentials(["Go"])
    blocked = chain.altered(end=chain.end.masked_fill(chain.end > -1e9, -float("inf")))
    monkeypatch.setattr(tagger, "_score", lambda _: blocked)
    with pytest.raises(NoPathError):
        tagger.tag("Go")


def test_splitter_that_changes_words_is_rejected(monkeypatch):
    tagger = load_tagger("upos-en-hmm")
    monkeypatch.setattr(tagger, "split", lambda text: text.lower().split())
    with pytest.raises(ModelError, match="'york' \\(number 2\\) is not in it after character 3"):
        tagger.tag("new York")
