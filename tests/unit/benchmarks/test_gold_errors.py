"""What benchmarks/gold_errors.py plants, and how it counts."""

import importlib.util
import random

import pytest

from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import ROOT

PATH = ROOT / "benchmarks" / "gold_errors.py"
SENTENCES = [Sentence(("a", "b"), ("X", "Y")) for _ in range(50)]


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("gold_errors", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_planted_words_and_no_others_have_another_tag(benchmark):
    spoilt, planted = benchmark.plant(SENTENCES, 0.1, random.Random(0))
    changed = {
        (index, t)
        for index, (before, after) in enumerate(zip(SENTENCES, spoilt, strict=True))
        for t in range(2)
        if before.tags[t] != after.tags[t]
    }
    assert changed == planted
    assert len(planted) == 10


def test_a_tagger_that_is_always_right_finds_all_of_them(benchmark):
    tagger = FakeTagger(["X", "Y"], {"a": {"X": 5.0}, "b": {"Y": 5.0}})
    found = benchmark.measure(tagger, SENTENCES, 0.1, random.Random(0))
    assert found["planted"] == found["errors"] == found["planted_among_errors"] == 10
    assert found["precision_at_k"] == 1.0


def test_spoilt_entities_have_another_type_or_are_gone(benchmark):
    sentences = [Sentence(("a", "b", "c"), ("B-PER", "I-PER", "B-LOC")) for _ in range(20)]
    spoilt, planted = benchmark.plant_entities(sentences, 0.5, random.Random(1))
    assert len(set(planted.values())) == 20
    changed = {
        (index, t)
        for index, (before, after) in enumerate(zip(sentences, spoilt, strict=True))
        for t in range(3)
        if before.tags[t] != after.tags[t]
    }
    assert changed == planted.keys()
    tags = {tag for sentence in spoilt for tag in sentence.tags}
    assert tags == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}


def test_a_tagger_that_is_always_right_finds_all_spoilt_entities(benchmark):
    tagger = FakeTagger(
        ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"],
        {"a": {"B-PER": 9.0}, "b": {"I-PER": 9.0}, "c": {"B-LOC": 9.0}},
        scheme="BIO",
    )
    sentences = [Sentence(("a", "b", "c"), ("B-PER", "I-PER", "B-LOC")) for _ in range(20)]
    found = benchmark.measure_entities(tagger, sentences, 0.5, random.Random(1))
    assert found["planted"] == found["errors"] == 20
    assert found["precision_at_k"] == 1.0
