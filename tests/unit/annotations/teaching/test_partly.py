"""Begun sentences to learn from, word by word."""

from dataclasses import replace

import pytest

from crfviz.annotations.curation import learnable
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.teaching.partly import begun
from crfviz.annotations.teaching.teach import CRF_ONLY, METHODS, learn
from crfviz.corpus.training.feature_crf import partly_tagged
from crfviz.taggers.neural.tagger import NeuralModel, NeuralTagger, load_model, save_model
from crfviz.text.sentences import Sentence
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger
from tests.support.tiny_tagger import save_tiny

TAGS = ("O", "B-WARE", "I-WARE")
OFFSETS = ((0, 1), (2, 3), (4, 5), (6, 7))
ITEM = Item("a b c d", OFFSETS, id=1)
BEGUN = Annotation(
    1, "anna", OFFSETS, ("O",) * 4, ("O", "B-WARE", "I-WARE", "O"), {1: "B-WARE", 2: "I-WARE"}
)


def given(annotation=BEGUN, tagger=None):
    return [sentence.tags for sentence in begun([(ITEM, annotation)], TAGS, tagger)]


def allowed(tags):
    table = partly_tagged(Sentence(("a",) * len(tags), tuple(tags)), TAGS).allowed
    return ["".join(tag[0] for tag, may in zip(TAGS, row, strict=True) if may) for row in table]


def test_set_tags_are_known_and_other_words_are_free():
    assert given() == [("_", "B-WARE", "I-WARE", "_")]
    assert given(replace(BEGUN, state="done")) == given(replace(BEGUN, pins={})) == []
    assert given(replace(BEGUN, pins={0: "B-DING"})) == []


def test_entities_do_not_continue_from_known_into_free_words():
    assert allowed(["_", "B-WARE", "I-WARE", "_"]) == ["OB", "B", "I", "OB"]
    assert allowed(["_", "_", "O", "_"]) == ["OB", "OBI", "O", "OB"]


def test_confident_guesses_are_known_as_whole_entities():
    scores = {"a": {"O": 9.0}, "b": {"B-WARE": 9.0}, "c": {"I-WARE": 1.0}, "d": {"O": 9.0}}
    tagger = FakeTagger(TAGS, scores, scheme="BIO")
    pinned = replace(BEGUN, pins={3: "O"})
    assert given(pinned, tagger) == [("O", "_", "_", "O")]
    scores["c"]["I-WARE"] = 9.0
    assert given(pinned, tagger) == [("O", "B-WARE", "I-WARE", "O")]
    tagger.probabilistic = False
    assert given(pinned, tagger) == [("_", "_", "_", "O")]


def test_sentence_finished_by_another_annotator_is_not_partial():
    other = replace(BEGUN, annotator="ben", state="done")
    assert learnable([(ITEM, BEGUN)], "agreed") == [(ITEM, BEGUN)]
    assert learnable([(ITEM, BEGUN), (ITEM, other)], "agreed") == [(ITEM, other)]


@pytest.mark.parametrize("tag", ["NOUN", "VERB"])
def test_network_learns_from_the_known_words_only(tmp_path, tag):
    before = NeuralTagger(save_tiny(tmp_path / "tiny"))
    stored = load_model(before.folder)
    words = ("He", "runs", "to", "Paris")
    partly, whole = Sentence(words, ("_", tag, "_", "_")), Sentence(("Run", "!"), ("VERB", "X"))
    recipe = METHODS[CRF_ONLY]
    network = learn(stored, [partly, whole], CRF_ONLY, recipe, lambda *_: None)
    save_model(tmp_path / "new", NeuralModel(stored.config, stored.vocabulary, network))
    after = NeuralTagger(tmp_path / "new")
    chains = [tagger.potentials(words) for tagger in (before, after)]
    cell = (1, before.tags.index(tag))
    old, new = (oracle.marginals(chain)[cell] for chain in chains)
    assert new > old
