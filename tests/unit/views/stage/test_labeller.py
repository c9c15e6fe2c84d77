"""What the labeller is sent: choices with keys, gaps, and the likeliest tags of each word."""

import json
import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.annotations import labelling
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import Annotation, Item
from crfviz.taggers.registry import load_tagger
from crfviz.views.stage.labeller import (
    MAX_RANKED,
    NONE,
    NONE_KEY,
    LastStep,
    Sheet,
    choices,
    gaps,
    labeller_payload,
    letters,
)
from crfviz.views.stage.payload_types import LabellerPayload
from tests.support.fake_tagger import FakeTagger
from tests.support.payload_types import faults
from tests.unit.annotations.test_labelling import OFFSETS, TEXT, people


def sheet(desk, annotation=None, **more):
    annotation = annotation or labelling.begin(desk)
    proposal = desk.propose(annotation.offsets, annotation.pins)
    return Sheet(desk, annotation, proposal, **{"last": LastStep(), **more})


@given(st.lists(st.text(string.ascii_uppercase, min_size=1, max_size=6), unique=True, max_size=40))
def test_keys_are_distinct_letters(names):
    found = letters(names)
    used = [key for key in found.values() if key]
    assert len(set(used)) == len(used) == min(len(names), 26)
    assert letters(names, taken=NONE_KEY).get(names[0] if names else None) != NONE_KEY


def test_every_tag_of_shipped_models_has_its_own_key():
    for name in ("upos-en", "ner-en"):
        keys = [choice.key for choice in choices(load_tagger(name).tags)]
        assert all(keys)
        assert len(set(keys)) == len(keys)


def test_keys_are_letters_of_the_tag_name():
    assert all(choice.key in choice.name.lower() for choice in choices(load_tagger("upos-en").tags))


def test_entities_are_chosen_by_type():
    found = choices(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
    assert [(choice.name, choice.key) for choice in found] == [
        ("PER", "p"),
        ("LOC", "l"),
        (NONE, NONE_KEY),
    ]


def test_probability_of_a_type_is_the_sum_of_its_tags():
    desk = people()
    annotation = labelling.begin(desk)
    marginals = desk.propose(annotation.offsets, annotation.pins).marginals
    data = labeller_payload(sheet(desk, annotation))
    tags = list(desk.tagger.tags)
    for word, row in enumerate(data["ranked"]):
        shown = {data["choices"][number]["name"]: p for number, p in row}
        for name, wanted in (("PER", ("B-PER", "I-PER")), ("", ("O",))):
            total = sum(float(marginals[word, tags.index(tag)]) for tag in wanted)
            assert shown[name] == pytest.approx(total, abs=1e-4)
        assert [p for _, p in row] == sorted((p for _, p in row), reverse=True)


def test_only_the_likeliest_tags_are_sent():
    tagger = FakeTagger([f"T{n}" for n in range(12)], {})
    data = labeller_payload(sheet(Desk(Item("a b", ((0, 1), (2, 3))), "anna", tagger, "v1")))
    assert all(len(row) == MAX_RANKED for row in data["ranked"])


def test_gaps_and_words_rebuild_the_text():
    text = " don't  panic!"
    offsets = ((1, 3), (3, 6), (8, 13), (13, 14))
    assert gaps(text, offsets) == [" ", "", "  ", ""]
    assert gaps(TEXT, OFFSETS) == ["", " ", " ", " ", " "]


def test_corrected_words_are_pinned_and_not_uncertain():
    desk = people()
    annotation = labelling.correct(desk, labelling.begin(desk), 3, 4, "LOC")
    data = labeller_payload(sheet(desk, annotation, last=LastStep(changed={1: "O"})))
    assert data["pinned"] == [3, 4]
    assert data["tags"][3:] == ["B-LOC", "I-LOC"]
    assert not {3, 4} & set(data["doubtful"])
    assert data["changed"] == {"1": "O"}
    assert labeller_payload(sheet(desk, labelling.accept(annotation)))["doubtful"] == []


def test_labeller_payload_is_valid_json():
    data = labeller_payload(sheet(people()))
    assert faults(data, LabellerPayload) == []
    received = json.loads(json.dumps(data))
    assert faults(received, LabellerPayload) == []
    assert json.dumps(received) == json.dumps(data)


def test_versions_list_their_readings_of_each_dispute():
    words = ("Mr", "Ford", "saw", "Ford", "City")
    own = {"anna": ("O", "B-PER", "O", "B-LOC", "I-LOC"), "ben": ("O", "B-PER", "O", "B-LOC", "O")}
    said = [Annotation(0, who, OFFSETS, tags, tags, state="done") for who, tags in own.items()]
    joined = ((0, 2), (3, 7), (8, 11), (12, 21))
    tags = ("O", "B-PER", "O", "B-LOC")
    said.append(Annotation(0, "cleo", joined, tags, tags, state="done"))
    desk = replace(people(), versions=tuple(said))
    data = labeller_payload(sheet(desk, why=[None]))
    assert not faults(data, LabellerPayload)
    versions = data["versions"]
    assert versions["names"] == ["anna", "ben", "cleo"]
    assert versions["lanes"] == [
        ["", "", "", "LOC", "…"],
        ["", "", "", "LOC", "none"],
        ["", "", "", "split", "split"],
    ]
    (dispute,) = versions["disputes"]
    assert dispute["readings"] == ["Ford City LOC", "Ford LOC · City none", "Ford City LOC"]
    assert (dispute["first"], dispute["last"], dispute["split"]) == (3, 4, True)
    assert data["doubtful"] == [3, 4]
    assert [word for t, word in enumerate(words) if t in data["pinned"]] == ["Mr", "Ford", "saw"]
    assert versions["left"] == 1
    taken = labelling.take(desk, labelling.begin(desk), 2, 3)
    data = labeller_payload(sheet(desk, taken, why=[None]))
    assert data["versions"]["left"] == 0
    assert data["doubtful"] == []
    assert data["versions"]["lanes"] == [["", "", "", "split"]] * 2 + [["", "", "", "LOC"]]
