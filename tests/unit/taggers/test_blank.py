"""Taggers of a document with tags of its own."""

import pytest
import torch

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.exceptions import EmptySentenceError
from crfviz.taggers.blank import UNSET, BlankTagger, bio_tags, document_tagger
from tests.support import oracle
from tests.support.fake_tagger import FakeTagger

WORDS = ("Der", "rote", "Schuh")


@pytest.mark.parametrize(
    ("tags", "first"), [(("FARBE", "WARE"), UNSET), (bio_tags(["FARBE", "WARE"]), "O")]
)
def test_blank_tagger_proposes_the_first_tag_everywhere(tags, first):
    tagger = BlankTagger(tags)
    chain = tagger.potentials(WORDS)
    assert {*tags, first} == set(tagger.tags)
    assert [tagger.tags[k] for k in viterbi(chain).path] == [first] * 3
    assert set(tagger.potentials(WORDS, constrained=False).emissions.flatten().tolist()) == {0.0}
    with pytest.raises(EmptySentenceError):
        tagger.potentials(())


def test_pinned_tag_changes_no_other_word_of_a_blank_tagger():
    chain = BlankTagger(bio_tags(["WARE"])).potentials(WORDS).pin({1: "B-WARE", 2: "I-WARE"})
    assert [chain.tags[k] for k in viterbi(chain).path] == ["O", "B-WARE", "I-WARE"]


def test_document_with_other_tags_gets_a_blank_tagger():
    model = FakeTagger(["A", "B"], {"Der": {"A": 1.0}})
    assert document_tagger(("B", "A"), model) is model
    assert isinstance(document_tagger(("A", "C"), model), BlankTagger)
    assert isinstance(document_tagger(("A", "C"), None), BlankTagger)


def test_tag_missing_in_the_model_is_never_proposed_and_can_be_set():
    scores = {"Der": {"A": 2.0, "B": -3.0}, "rote": {"B": 1.0}, "Schuh": {"A": -1.0, "B": -2.0}}
    model = FakeTagger(["A", "B"], scores)
    assert isinstance(document_tagger(("A", "B", "C"), model), BlankTagger)
    wide = document_tagger(("A", "B", "C"), model, own=True)
    assert wide.tags == ("A", "B", "C")
    before, after = model.potentials(WORDS), wide.potentials(WORDS)
    assert viterbi(after).path == viterbi(before).path == list(oracle.best_paths(after)[0])
    assert torch.equal(after.emissions[:, :2], before.emissions)
    assert [wide.tags[k] for k in viterbi(after.pin({1: "C"})).path] == ["A", "C", "A"]


def test_removed_tag_is_never_proposed():
    scores = {"Der": {"A": 2.0, "C": 3.0}, "rote": {"B": 1.0}, "Schuh": {"C": 2.0, "B": 1.0}}
    model = FakeTagger(["A", "C", "B"], scores)
    narrow = document_tagger(("A", "B"), model, own=True)
    assert narrow.tags == ("A", "B")
    before, after = model.potentials(WORDS), narrow.potentials(WORDS)
    assert torch.equal(after.emissions, before.emissions[:, [0, 2]])
    assert torch.equal(after.transitions, before.transitions[[0, 2]][:, [0, 2]])
    assert viterbi(after).path == list(oracle.best_paths(after)[0])
    assert isinstance(document_tagger(("A", "D"), model, own=True), BlankTagger)
    both = document_tagger(("A", "B", "D"), model, own=True)
    assert both.tags == ("A", "B", "D")
    assert viterbi(both.potentials(WORDS)).path == viterbi(after).path
