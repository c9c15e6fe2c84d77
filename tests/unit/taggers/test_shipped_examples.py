"""Every claim of the shipped examples, against the shipped weights."""

import pytest

from crfviz.taggers.examples import holds
from crfviz.taggers.registry import list_taggers, load_tagger

NAMES = [
    "ner-en",
    "upos-en",
    "upos-en-contextfree",
    "upos-en-hmm",
    "upos-en-perceptron",
    "upos-en-perceptron-greedy",
]
TAGGERS = {name: load_tagger(name) for name in list_taggers()}
EXAMPLES = [(name, example) for name in TAGGERS for example in TAGGERS[name].examples()]
IDS = [f"{name}: {example.kind}: {example.text}" for name, example in EXAMPLES]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=IDS)
def test_the_claim_is_true(name, example):
    assert holds(example, TAGGERS[name].potentials(example.tokens))


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=IDS)
def test_the_words_are_those_of_the_text(name, example):
    tagger = TAGGERS[name]
    assert tuple(tagger.split(example.text)) == example.tokens
    assert set(example.gold or ()) <= set(tagger.tags)
    assert tagger.observations or 3 <= len(example.tokens) <= 14


@pytest.mark.parametrize("name", NAMES)
def test_there_are_about_a_dozen_of_several_kinds(name):
    examples = TAGGERS[name].examples()
    assert 10 <= len(examples) <= 16
    assert len({example.kind for example in examples}) >= 4
    assert len({example.text for example in examples}) == len(examples)
    assert any(example.kind == "viterbi_wrong" for example in examples)


def test_the_first_example_shows_greedy_and_viterbi_apart():
    first = TAGGERS["upos-en-contextfree"].examples()[0]
    assert first.text == "These look fine to me ."
    assert first.kind == "viterbi_right"
