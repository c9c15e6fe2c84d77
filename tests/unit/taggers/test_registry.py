import os

import pytest
import torch

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, EmptySentenceError, ModelError
from crfviz.taggers.conversions import from_hmm
from crfviz.taggers.neural.tagger import choose_device
from crfviz.taggers.plugins import Plugin, PluginTagger
from crfviz.taggers.registry import SHIPPED, list_taggers, load_tagger
from crfviz.taggers.tagger import CRF, HMM, MEMM, PERCEPTRON
from tests.support.tiny_tagger import save_tiny

SHIPPED_NAMES = [
    "ner-en",
    "textbook/casino",
    "textbook/cpg",
    "textbook/determiner-noun-verb",
    "textbook/fever",
    "textbook/ice-cream",
    "textbook/label-bias",
    "textbook/umbrella",
    "upos-en",
    "upos-en-contextfree",
    "upos-en-hmm",
    "upos-en-perceptron",
    "upos-en-perceptron-greedy",
]


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Two folders of models: one with `tiny`, one that holds no model."""
    first, second = tmp_path / "first", tmp_path / "second"
    save_tiny(first / "tiny")
    (second / "notes").mkdir(parents=True)
    monkeypatch.setenv("CRFVIZ_MODELS", os.pathsep.join([str(first), str(second), "/nowhere"]))
    return first


def test_shipped_taggers_are_listed_in_order(monkeypatch):
    monkeypatch.delenv("CRFVIZ_MODELS", raising=False)
    assert list_taggers() == SHIPPED_NAMES


@pytest.mark.usefixtures("added")
def test_added_folders_are_listed():
    assert list_taggers() == sorted([*SHIPPED_NAMES, "tiny"])


@pytest.mark.usefixtures("added")
def test_added_tagger_is_loaded_by_name():
    assert load_tagger("tiny").tags == ("NOUN", "VERB", "X")


def test_folder_is_loaded_by_path(added):
    assert load_tagger(added / "tiny").name == "tiny"
    assert load_tagger(str(added / "tiny")).name == "tiny"


def test_added_folder_cannot_replace_a_shipped_model(added):
    save_tiny(added / "upos-en")
    assert len(load_tagger("upos-en").tags) == 17


def test_unknown_name_error_lists_the_known_ones():
    with pytest.raises(ModelError, match=r"'upos-xx'.* known: ner-en, textbook/casino, "):
        load_tagger("upos-xx")


@pytest.mark.parametrize(
    "name", ["", "  ", "../nothing", "upos-en/../nothing", "\x00", "x" * 5000, "/nowhere"]
)
def test_name_of_no_folder_is_rejected(name):
    with pytest.raises(ModelError, match="no tagger is called"):
        load_tagger(name)


@pytest.mark.usefixtures("added")
def test_folder_without_a_model_names_the_missing_file():
    with pytest.raises(ModelError, match=r"notes/config\.json: the file is missing"):
        load_tagger("notes")


def test_device_variable_selects_the_device(monkeypatch):
    monkeypatch.setenv("CRFVIZ_DEVICE", "CPU")
    assert choose_device() == torch.device("cpu")
    monkeypatch.setenv("CRFVIZ_DEVICE", "tpu")
    with pytest.raises(CrfvizError, match="CRFVIZ_DEVICE: expected cpu or cuda, got 'tpu'"):
        choose_device()


def test_cuda_without_a_gpu_is_rejected(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CRFVIZ_DEVICE", raising=False)
    assert choose_device() == torch.device("cpu")
    monkeypatch.setenv("CRFVIZ_DEVICE", "cuda")
    with pytest.raises(CrfvizError, match="finds no CUDA device"):
        choose_device()


def test_unknown_family_is_named_in_the_error(tmp_path):
    (tmp_path / "config.json").write_text('{"format": 1, "family": "oracle"}', encoding="utf-8")
    with pytest.raises(
        ModelError,
        match=r"'family' must be one of crf, perceptron, hmm, imported, textbook, got 'ora",
    ):
        load_tagger(tmp_path)


def test_textbook_chains_of_an_added_folder_are_listed(added):
    (added / "textbook").mkdir()
    source = (SHIPPED / "textbook" / "fever.json").read_text(encoding="utf-8")
    for name in ("mine", "fever"):
        (added / "textbook" / f"{name}.json").write_text(source, encoding="utf-8")
    assert load_tagger("textbook/mine").tags == ("Healthy", "Fever")
    assert list_taggers().count("textbook/fever") == 1


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_every_tagger_reports_its_family_and_whether_it_is_probabilistic(name):
    tagger = load_tagger(name)
    assert tagger.family in (CRF, PERCEPTRON, HMM, MEMM)
    assert tagger.probabilistic == (tagger.family != PERCEPTRON)
    assert (tagger.observations is not None) == name.startswith("textbook/")
    assert tagger.card().startswith("# ")
    with pytest.raises(EmptySentenceError, match="at least one"):
        tagger.potentials([])


@pytest.mark.parametrize(
    "name", ["upos-en-contextfree", "upos-en-perceptron", "upos-en-hmm", "textbook/ice-cream"]
)
def test_text_instead_of_words_is_rejected(name):
    tagger = load_tagger(name)
    for text in ("These look fine", "1"):
        with pytest.raises(CrfvizError, match=r"expected a list of words.*split it first"):
            tagger.potentials(text)
        with pytest.raises(CrfvizError, match=r"expected a list of words"):
            tagger.potentials_batch([text])
        with pytest.raises(CrfvizError, match=r"expected a list of sentences.*got the text"):
            tagger.potentials_batch(text)
    with pytest.raises(
        CrfvizError, match=r"expected words as texts or tokens, got 3\.0 at position 1"
    ):
        tagger.potentials(["1", 3.0])


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: load_tagger("upos-en"), "NeuralTagger('upos-en', crf, 17 tags)"),
        (lambda: load_tagger("ner-en"), "NeuralTagger('ner-en', crf, 7 tags, BIO)"),
        (lambda: load_tagger("upos-en-hmm"), "HmmTagger('upos-en-hmm', hmm, 17 tags)"),
        (
            lambda: load_tagger("textbook/ice-cream"),
            "TextbookTagger('textbook/ice-cream', hmm, 2 tags)",
        ),
        (lambda: from_hmm([1], [[1]], [[1]], ["x"]), "MarkovTagger('hmm', hmm, 1 tag)"),
    ],
)
def test_repr_shows_name_family_and_number_of_tags(make, expected):
    assert repr(make()) == expected


def test_repr_shortens_a_long_name():
    class Shouting:
        """One tag for everything."""

        name, tags = "x" * 500 + "\n", ("A",)

        def potentials(self, tokens):
            return Potentials([[0.0]] * len(tokens), [[0.0]])

    assert len(repr(PluginTagger(Plugin("x" * 500 + "\n", "here", Shouting), Shouting()))) < 100
