"""What several people said about a sentence: where they differ, and the answer that settles it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from crfviz.annotations.curation import agreed, answers, chosen_copies, disputes
from crfviz.annotations.files.exporting import FILE_FORMATS, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.labelling import Desk, accept, begin, correct, cut, join, take, undo
from crfviz.annotations.records import CURATED, Annotation, Curation, Item, curation_of
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.blank import BlankTagger

TEXT = "Kim saw New York ."
OFFSETS = ((0, 3), (4, 7), (8, 11), (12, 16), (17, 18))
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TIME = datetime(2030, 1, 31, 12, tzinfo=UTC)


def version(who, tags, offsets=OFFSETS, **more):
    return Annotation(1, who, offsets, tuple(tags), tuple(tags), state="done", **more)


def desk_for(*versions, tags=BIO):
    item = Item(TEXT, OFFSETS, id=1)
    return Desk(item, CURATED, BlankTagger(tags), "", curator="carl", versions=versions)


ANNA = version("anna", ("B-PER", "O", "B-LOC", "I-LOC", "O"))
BEN = version("ben", ("B-PER", "O", "O", "B-LOC", "O"))
CLEO = version("cleo", ("B-PER", "O", "B-LOC", "O"), ((0, 3), (4, 7), (8, 16), (17, 18)))


def test_entity_is_disputed_as_a_whole():
    (found,) = disputes([ANNA, BEN])
    assert (found.start, found.end) == (8, 16)
    assert found.readings[0] == ((8, 11, "B-LOC"), (12, 16, "I-LOC"))
    assert found.readings[1] == ((8, 11, "O"), (12, 16, "B-LOC"))
    assert not found.splits_words
    assert disputes([ANNA, replace(ANNA, annotator="dora")]) == []


def test_different_word_splits_are_one_dispute_by_characters():
    (found,) = disputes([ANNA, CLEO])
    assert (found.start, found.end, found.splits_words) == (8, 16, True)
    assert found.readings[1] == ((8, 16, "B-LOC"),)


def test_curation_starts_with_the_tags_all_agree_on():
    assert agreed([ANNA, BEN, CLEO]) == (OFFSETS, {0: "B-PER", 1: "O", 4: "O"})
    begun = begin(desk_for(ANNA, BEN))
    assert begun.annotator == CURATED
    assert begun.pins == {0: "B-PER", 1: "O", 4: "O"}


def test_unresolved_dispute_blocks_acceptance_despite_a_majority():
    desk = desk_for(ANNA, replace(ANNA, annotator="dora"), BEN)
    with pytest.raises(CrfvizError, match="1 dispute is not settled yet"):
        accept(begin(desk), desk.versions)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_taking_a_reading_sets_its_words_and_tags_and_can_be_undone(number):
    desk = desk_for(ANNA, BEN, CLEO)
    begun = begin(desk)
    taken = take(desk, begun, number, 2)
    chosen = desk.versions[number]
    assert (taken.offsets, taken.final) == (chosen.offsets, chosen.final)
    assert accept(taken, desk.versions).state == "done"
    back = undo(desk, taken)
    assert (back.offsets, back.pins, back.past) == (begun.offsets, begun.pins, ())


def test_readings_of_two_versions_form_one_answer():
    ben = version("ben", ("O", "O", "O", "B-LOC", "O"))
    desk = desk_for(ANNA, ben)
    begun = begin(desk)
    assert begun.pins == {1: "O", 4: "O"}
    first = take(desk, begun, 1, 0)
    with pytest.raises(CrfvizError, match="1 dispute is not"):
        accept(first, desk.versions)
    both = take(desk, first, 0, 3)
    assert both.final == ("O", "O", "B-LOC", "I-LOC", "O")
    assert accept(both, desk.versions).state == "done"


def test_taking_a_whole_version_replaces_earlier_readings():
    desk = desk_for(ANNA, CLEO)
    taken = take(desk, take(desk, begin(desk), 1, 2), 0, -1)
    assert (taken.offsets, taken.final) == (ANNA.offsets, ANNA.final)
    assert set(taken.pins) == set(range(5))


def test_correction_settles_a_dispute():
    desk = desk_for(ANNA, BEN)
    corrected = correct(desk, begin(desk), 2, 3, "PER")
    assert accept(corrected, desk.versions).final == ("B-PER", "O", "B-PER", "I-PER", "O")


def test_taking_a_reading_restores_words_joined_or_cut_by_hand():
    desk = desk_for(ANNA, BEN)
    joined = join(desk, begin(desk), 1)  # saw New
    taken = take(desk, joined, 0, 2)
    assert (taken.offsets, taken.final) == (OFFSETS, ANNA.final)
    halves = cut(desk, begin(desk), 3, 2)  # Yo rk
    assert take(desk, halves, 1, 3).final == BEN.final


def test_reading_without_a_dispute_or_version_is_rejected():
    desk = desk_for(ANNA, BEN)
    for number, word in ((0, 0), (0, 99), (5, 2), (-1, 2)):
        with pytest.raises(CrfvizError, match=r"same tag here|one of 2 versions"):
            take(desk, begin(desk), number, word)


WORDS = ((0, 3), (4, 8))
SAID = {  # by sentence, in the order of the annotators
    1: ["NV", "NV", "NV"],
    2: ["NV", "VV", "NV"],
    3: ["NV", "VV"],
    4: ["NN"],
    5: ["NV", "VV", "NN"],
}
PAIRS = [
    (Item("Kim left", WORDS, id=number), Annotation(number, who, WORDS, tuple(tags), tuple(tags)))
    for number, copies in SAID.items()
    for who, tags in zip(("anna", "ben", "cleo"), copies, strict=False)
]
FIFTH = (
    Item("Kim left", WORDS, id=5),
    Annotation(5, CURATED, WORDS, ("V", "V"), ("V", "V"), state="done", curation=Curation("carl")),
)


def said(pairs):
    return [(item.id, "".join(each.final)) for item, each in pairs]


def test_chosen_copies_are_agreed_or_curated():
    assert said(chosen_copies(PAIRS, "agreed")) == [(1, "NV"), (4, "NN")]
    assert said(chosen_copies([*PAIRS, FIFTH], "agreed")) == [(1, "NV"), (4, "NN"), (5, "VV")]
    assert answers([*PAIRS, FIFTH])[1] == 2
    begun = (FIFTH[0], replace(FIFTH[1], state="open"))
    assert said(chosen_copies([*PAIRS, begun], "agreed")) == [(1, "NV"), (4, "NN")]
    assert chosen_copies([*PAIRS, FIFTH], "all") == [*PAIRS, FIFTH]


def test_disputed_sentences_are_rejected_without_a_choice():
    with pytest.raises(CrfvizError, match="disagree about 3 of 5 sentences: settle them"):
        chosen_copies(PAIRS, None)
    mine = [pair for pair in PAIRS if pair[1].annotator == "anna"]
    assert chosen_copies(mine, None) == mine


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/a.db") as store:
        labelled = [replace(each, item=0) for each in (ANNA, BEN)]
        store.add("news", [Item(TEXT, OFFSETS)] * 2, labelled=labelled)
        yield store


def settle(store, final=ANNA.final):
    (item, _) = store.item_ids("news")
    times = {each.annotator: each.updated for each in store.versions(item)}
    before = store.annotation(item, CURATED)
    new = version(CURATED, final, curation=Curation("carl", times))
    return store.save(replace(new, item=item, revision=before.revision if before else 0))


def test_changed_version_invalidates_the_curated_answer(store):
    settle(store)
    (item, _) = store.item_ids("news")
    assert [each.annotator for _, each in answers(store.annotations("news"))[0]] == [CURATED]
    ben = store.annotation(item, "ben")
    store.save(replace(ben, final=("O",) * 5))
    assert store.disputed("news") == {item: False}
    assert answers(store.annotations("news")) == ([], 1)
    assert len(answers(store.annotations("news", CURATED))[0]) == 1
    without_ben = [pair for pair in store.annotations("news") if pair[1].annotator != "ben"]
    assert [each.annotator for _, each in answers(without_ben)[0]] == [CURATED]
    ben = store.annotation(item, "ben")
    store.save(replace(ben, final=ANNA.final))  # all agree
    assert store.disputed("news") == {}
    assert [each.annotator for _, each in answers(store.annotations("news"))[0]] == ["anna", "ben"]


@pytest.mark.parametrize("file_format", FILE_FORMATS)
def test_curated_sentence_survives_export_and_import(store, file_format, tmp_path):
    settle(store)
    content = render(store.annotations("news"), file_format).encode()
    with open_store(f"sqlite:///{tmp_path}/b.db") as other:
        keep(other, read_items(content, "news"))
        (item,) = other.disputed("news")
        assert other.disputed("news") == {item: True}
        curated = other.annotation(item, CURATED)
        times = {each.annotator: each.updated for each in other.versions(item)}
        assert curated.curation == Curation("carl", times)
        assert render(other.annotations("news"), file_format).encode() == content


@pytest.mark.parametrize(
    "fields",
    [
        [],
        {},
        {"by": "carl"},
        {"by": 3, "versions": {}},
        {"by": "carl", "versions": {"anna": "now"}},
    ],
)
def test_malformed_curation_record_is_rejected(fields):
    with pytest.raises(FormatError, match="expected who settled a sentence"):
        curation_of(fields)
    assert curation_of({"by": "carl", "versions": {"anna": None}}).versions == {"anna": None}
    times = {"anna": TIME}
    assert curation_of(Curation("carl", times).as_fields()) == Curation("carl", times)
