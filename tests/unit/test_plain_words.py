"""The sources, the model cards and the commands have none of the words that the screen gave up."""

import re

import pytest

from tests.support.paths import ROOT
from tests.support.plain_words import LABEL_WORDS, OLD, long_labels, long_sentences, problems_of

KINDS = ("crfviz/**/*.py", "crfviz/**/*.js", "pages/*.py", "lectures/*.toml", "models/*/README.md")
LINKED = {"How wrong", "How sure", "What the CRF buys", "Is it the gold?"}  # they stay in links
SPOKEN = tuple(phrase for phrase in OLD if phrase not in LINKED | {"word alone", "left to right"})


@pytest.mark.parametrize("kind", KINDS)
def test_abandoned_phrases_do_not_occur(kind):
    files = list(ROOT.glob(kind))
    assert files
    texts = {path: re.sub(r"\s+", " ", path.read_text("utf-8")) for path in files}
    found = [(path.name, old) for path, text in texts.items() for old in SPOKEN if old in text]
    assert found == []


def test_plain_words_helpers_detect_phrases_labels_and_sentences():
    assert problems_of("word alone, and the right tags") == ["word alone", "right tags"]
    assert long_labels(["Four words for it", "Label ten of the real tweets", "a.b (1)"]) == [
        "Label ten of the real tweets"
    ]
    assert long_sentences(" ".join(["word"] * 31) + ". Short.") == [" ".join(["word"] * 31) + "."]
    assert long_labels([" ".join(["word"] * LABEL_WORDS)]) == []
