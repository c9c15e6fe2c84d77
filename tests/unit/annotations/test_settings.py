"""Settings of a document: tags that are typed, kept in the store, exported and read back."""

import json
from dataclasses import replace

import pytest

from crfviz.annotations.files.exporting import FILE_FORMATS, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.records import UNSETTLED, Annotation, Item
from crfviz.annotations.settings import (
    Settings,
    own_tags,
    settings_of,
    settings_of_text,
    text_of_settings,
)
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError, FormatError, StoreError, UnknownTagError
from crfviz.taggers.blank import bio_tags
from tests.support.rare_names import drawn, seed_of_commit

OFFSETS = ((0, 5), (6, 11))
TAGS = ("WARE", "FARBE", "MASS")
SETTINGS = Settings(TAGS, "mine", {"WARE": "w", "MASS": "f"}, {"FARBE": "#D55E00"})


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/annotations.db") as opened:
        yield opened


def begun(store, settings=SETTINGS):
    final = [("FARBE", "WARE"), ("_", "WARE"), ("FARBE", "FARBE")]
    labelled = [
        Annotation(number, "anna", OFFSETS, ("_", "_"), tags, {1: tags[1]}, model="")
        for number, tags in enumerate(final)
    ]
    return store.add("Waren", [Item("rotes Kleid", OFFSETS)] * 4, None, labelled, settings)


@pytest.mark.parametrize(
    ("names", "bio", "tags"),
    [
        ([" WARE", "FARBE "], False, ("WARE", "FARBE")),
        (["WARE"], True, ("O", "B-WARE", "I-WARE")),
        (["B-WARE", "O"], False, ("O", "B-WARE", "I-WARE")),
        (["O", "X"], False, ("O", "X")),
        (["Größe", "צבע", "PRP$"], False, ("Größe", "צבע", "PRP$")),
    ],
)
def test_own_tags_are_parsed_from_names(names, bio, tags):
    assert own_tags(names, bio=bio) == tags


@pytest.mark.parametrize(
    ("names", "bio", "message"),
    [
        (["WARE", "Ware"], False, "each tag once, got WARE and Ware"),
        ([f"T{n}" for n in range(200)], True, "expected 1 to 60 tags, got 200"),
        ([], False, "expected 1 to 60 tags, got 0"),
        (["A B"], False, r"without blanks, .* got 'A B'"),
        (["<b>A</b>"], False, "letters, digits and signs .* got '<b>A</b>'"),
        (["A", ""], True, "got ''"),
        (["A" * 41], False, "at most 40 characters"),
        (["O", "A"], True, "another name than 'O'"),
        (["_"], False, "another name than '_'"),
    ],
)
def test_invalid_tag_names_are_rejected(names, bio, message):
    with pytest.raises(CrfvizError, match=message):
        own_tags(names, bio=bio)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"keys": {"A": "1"}}, "a letter from a to z as key of 'A', got '1'"),
        ({"keys": {"A": "a", "B": "a"}}, "one tag for each key, got 'a' for A and B"),
        ({"tags": ["O", "B-A", "I-A"], "keys": {"A": "x"}}, r"not x \(no entity\)"),
        ({"colours": {"A": "red"}}, "a colour such as #0072B2 for 'A', got 'red'"),
        ({"tags": ["A", "A"]}, "different tags"),
        ({"tags": "A"}, "cannot read the tags of the settings"),
        ({"keys": {"A": 1}}, "cannot read the keys of the settings"),
        (["A"], "an object of settings"),
    ],
)
def test_invalid_settings_are_rejected(fields, message):
    with pytest.raises(FormatError, match=f"line 3: .*{message}"):
        settings_of(fields, "line 3")


def test_names_with_commas_and_keys_are_read_back():
    settings = Settings((",", "a=b", '"q"', "''", "B-geo loc"), keys={",": "k", "a=b": "q"})
    text = text_of_settings(settings)
    assert text == '","=k, "a=b"=q, """q""", \'\', B-geo loc'
    assert settings_of_text(text, bio=False, known=settings.names) == settings


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("bio", [False, True])
def test_settings_of_rare_names_are_read_back(number, bio):
    names = [f"n{name}" for name in drawn(8, seed_of_commit() + number)]
    if len(set(map(str.casefold, names))) < len(names):
        names = names[:1]
    tags = bio_tags(names) if bio else tuple(names)
    settings = Settings(tags, keys={name: "abcdefgh"[k] for k, name in enumerate(names[:3])})
    read = settings_of_text(text_of_settings(settings), bio=bio, known=settings.names)
    assert (set(read.tags), read.keys) == (set(tags), settings.keys)


def test_settings_are_stored_and_changed(store):
    name = begun(store)
    (old,) = store.documents()
    assert old.settings == SETTINGS
    new = replace(SETTINGS, tags=("FARBE", "NEU", "WARE"), keys={"NEU": "n"}, model="")
    store.change(name, new, "Andere")
    (document,) = store.documents()
    assert (document.name, document.settings) == ("Andere", new)
    assert store.renewed(old) == document
    other = begun(store)
    with pytest.raises(StoreError, match="a name that no document has, got 'Andere'"):
        store.change(other, new, "Andere")
    removed = store.documents()[1]
    assert removed.settings == SETTINGS
    store.remove(other)
    assert store.renewed(removed) == removed
    with pytest.raises(StoreError, match="no document 'Waren'"):
        store.change("Waren", new)


def test_tag_in_use_cannot_be_removed(store):
    name = begun(store)
    with pytest.raises(UnknownTagError, match="'FARBE' is in use in 2 annotated sentences of 'Wa"):
        store.change(name, replace(SETTINGS, tags=("WARE", "MASS")))
    assert store.documents()[0].settings == SETTINGS
    assert len(store.annotations()) == 3


def test_tag_outside_the_document_tags_is_rejected(store):
    begun(store)
    new = Annotation(store.item_ids("Waren")[3], "anna", OFFSETS, ("_", "_"), ("_", "NOUN"))
    with pytest.raises(UnknownTagError, match="'NOUN' is none of them: expected one of WARE, FAR"):
        store.save(new, ("NOUN", "VERB"))
    saved = store.save(replace(new, final=("_", "MASS")), ("NOUN", "VERB"))
    assert saved.revision == 1
    assert store.documents()[0].settings == SETTINGS


@pytest.mark.parametrize("file_format", FILE_FORMATS)
def test_settings_survive_export_and_import(store, tmp_path, file_format):
    begun(store)
    settings = {each.name: each.settings for each in store.documents()}
    file = render(store.annotations(), file_format, settings)
    assert file.count("#D55E00") == 1
    read = read_items(file.encode(), "a file")
    assert (read.problems, {d.name: d.settings for d in read.documents}) == ([], settings)
    with open_store(f"sqlite:///{tmp_path}/again.db") as again:
        keep(again, read)
        assert again.documents()[0].settings == SETTINGS
        assert render(again.annotations(), file_format, settings) == file


def test_exported_rows_have_the_same_keys_and_types(store):
    begun(store)
    file = render(store.annotations(), "jsonl", {"Waren": SETTINGS})
    rows = [json.loads(line) for line in file.splitlines()]
    assert {type(row["settings"]) for row in rows} == {str}
    assert len({tuple(row) for row in rows}) == 1


def test_settings_lacking_a_used_tag_are_dropped_and_reported(store):
    begun(store)
    file = render(store.annotations(), "jsonl", {"Waren": replace(SETTINGS, tags=("WARE", "X"))})
    read = read_items(file.encode(), "a file")
    assert [document.settings for document in read.documents] == [UNSETTLED]
    assert [each.message for each in read.problems] == [
        "a file: the tags of 'Waren' are left out: 'FARBE' is none"
    ]
    assert len(read.items) == 3
