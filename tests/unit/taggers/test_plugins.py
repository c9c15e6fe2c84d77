"""Taggers of other packages, installed as packages are: with a .dist-info and entry points."""

import importlib
import logging
import sys

import pytest

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.exceptions import EmptySentenceError, ModelError
from crfviz.taggers import log_once
from crfviz.taggers.plugins import plugins
from crfviz.taggers.registry import list_taggers, load_tagger

MODULE = '''
from crfviz import Potentials
from crfviz.taggers.examples import Example


class Vowels:
    """Tags words by their first letter. Made for a test."""

    tags = ["VOWEL", "OTHER"]

    def potentials(self, tokens):
        emissions = [[float(word[0] in "aeiou"), 0.5] for word in tokens]
        return Potentials(emissions, [[0.0, 0.0], [0.0, 0.0]])


class Full(Vowels):
    tags = ("O", "B-X", "I-X")
    scheme = "BIO"
    family = "perceptron"
    examples = ["an apple", Example("a b", ("a", "b"), "claim", "given")]
    card = "# Full\\n\\nSays all."

    def split(self, text):
        return text.split("|")

    def potentials(self, tokens):
        return Potentials([[0.0, 0.0, 1.0]] * len(tokens), [[0.0] * 3] * 3, tags=self.tags)


class Dice(Vowels):
    observations = [1, 2]


instance = Vowels()


def factory():
    return Vowels()


class NoTags:
    def potentials(self, tokens):
        return None


class NoPotentials(NoTags):
    tags = ["A"]


class Twice(NoPotentials):
    tags = ["A", "A"]


class Numbers(NoPotentials):
    tags = [1, 2]


class Raises(Vowels):
    def __init__(self):
        raise RuntimeError("no licence")


class RaisesLater(Vowels):
    def potentials(self, tokens):
        return 1 / 0


class Wide(Vowels):
    tags = ["A", "B", "C"]


class OddFamily(Vowels):
    family = "oracle"
'''
GOOD = ("Vowels", "Full", "Dice", "instance", "factory")
BROKEN = {
    "NoTags": "has no 'tags'",
    "NoPotentials": "must return crfviz.Potentials, got NoneType",
    "Twice": "tags must have different names",
    "Numbers": "tags must be non-empty strings",
    "Raises": "The plug-in Raises failed: RuntimeError: no licence",
    "RaisesLater": "The plug-in RaisesLater failed: ZeroDivisionError",
    "Wide": "the tags A, B, C were expected, got",
    "OddFamily": "family must be one of",
    "Missing": "The plug-in Missing failed: AttributeError",
    "upos-en": None,
}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with one entry point for each class of the module."""
    (tmp_path / "their_taggers.py").write_text(MODULE)
    info = tmp_path / "their_taggers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-taggers\nVersion: 1.0\n")
    points = [f"{name} = their_taggers:{name}" for name in (*GOOD, *BROKEN) if name != "upos-en"]
    points.append("upos-en = their_taggers:Vowels")
    points.append("nowhere = no_such_module:Vowels")
    (info / "entry_points.txt").write_text("\n".join(["[crfviz.taggers]", *points]) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    plugins.cache_clear()
    log_once.reset_log()
    yield
    plugins.cache_clear()
    sys.modules.pop("their_taggers", None)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", ["Vowels", "instance", "factory"])
def test_an_object_with_tags_and_potentials_is_a_tagger(name):
    assert name in list_taggers()
    tagger = load_tagger(name)
    assert (tagger.name, tagger.tags, tagger.family) == (name, ("VOWEL", "OTHER"), "crf")
    chain = tagger.potentials(["an", "ox", "bit"])
    assert (chain.tags, chain.tokens) == (tagger.tags, ("an", "ox", "bit"))
    assert viterbi(chain).path == [0, 0, 1]
    assert tagger.split("it's") == ["it", "'s"]
    assert tagger.potentials_batch([["a"], ["b", "c"]])[1].num_tokens == 2
    assert tagger.examples() == []
    assert "Tags words by their first letter." in tagger.card()
    assert (tagger.probabilistic, tagger.observations, tagger.scheme) == (True, None, None)
    assert tagger.reads("anything")
    with pytest.raises(EmptySentenceError):
        tagger.potentials([])


@pytest.mark.usefixtures("installed")
def test_more_of_a_tagger_is_used_where_it_is_there():
    full = load_tagger("Full")
    assert (full.family, full.probabilistic, full.scheme) == ("perceptron", False, "BIO")
    assert full.split("x y|z") == ["x y", "z"]
    assert [example.text for example in full.examples()] == ["an apple", "a b"]
    assert full.card() == "# Full\n\nSays all."
    assert viterbi(full.potentials(["a", "b"])).path == [1, 2]  # no I-X at the start
    assert viterbi(full.potentials(["a", "b"], constrained=False)).path == [2, 2]
    dice = load_tagger("Dice")
    assert (dice.observations, dice.split("1 2")) == (("1", "2"), ["1", "2"])
    assert dice.reads("2 1")
    assert not dice.reads("3")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("name", "message"), [item for item in BROKEN.items() if item[1]])
def test_a_broken_one_is_a_message_and_the_others_stay(name, message, caplog):
    assert {name, *GOOD} <= set(list_taggers())
    with pytest.raises(ModelError, match=message), caplog.at_level(logging.WARNING):
        load_tagger(name).potentials(["a", "b"])
    if "failed" in message:
        assert "Traceback" in caplog.text


@pytest.mark.usefixtures("installed")
def test_a_module_that_is_not_there_is_a_message():
    with pytest.raises(ModelError, match="nowhere failed: ModuleNotFoundError"):
        load_tagger("nowhere")


@pytest.mark.usefixtures("installed")
def test_the_log_has_a_trace_once_for_each_reason(caplog):
    for name in ("nowhere", "Raises", "nowhere", "Raises", "nowhere"):
        with pytest.raises(ModelError):
            load_tagger(name)
    broken = load_tagger("RaisesLater")
    for _ in range(3):
        with pytest.raises(ModelError):
            broken.potentials(["a"])
    assert [record.message for record in caplog.records] == [
        f"the plug-in {name} failed" for name in ("nowhere", "Raises", "RaisesLater")
    ]
    assert caplog.text.count("Traceback (most recent call last)") >= 3


@pytest.mark.usefixtures("installed")
def test_a_shipped_name_cannot_be_taken_over():
    assert len(load_tagger("upos-en").tags) == 17
    assert list_taggers().count("upos-en") == 1
