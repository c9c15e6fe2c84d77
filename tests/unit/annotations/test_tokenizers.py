"""Texts of a document are split by its tokenizer, which stays with it."""

import json
import sqlite3
from contextlib import closing

import pytest

from crfviz.__main__ import main
from crfviz.annotations.files.exporting import FILE_FORMATS, render
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.files.merging import keep
from crfviz.annotations.records import UNSETTLED, Annotation
from crfviz.annotations.settings import Settings, settings_of
from crfviz.annotations.store.store import open_store
from crfviz.exceptions import CrfvizError, FormatError

TEXT = "安娜住在Oslo 12。"
CHARACTERS = ("安", "娜", "住", "在", "Oslo", "12", "。")
SPANS = {"text": TEXT, "entities": [[0, 2, "PER"], [4, 8, "LOC"]]}
FILES = {
    "text": TEXT,
    "jsonl": json.dumps(SPANS),
    "json": json.dumps([SPANS]),
    "table": f"text,label\n{TEXT},\n",
}


@pytest.fixture(autouse=True)
def database(tmp_path, monkeypatch):
    path = tmp_path / "annotations.db"
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{path}")
    return path


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_unsplit_text_is_split_by_the_named_tokenizer(content):
    read = read_items(content.encode(), "a file", tokenizer="characters")
    assert read.items[0].tokens == CHARACTERS
    assert read.was_split
    assert read.documents[0].settings == Settings(tokenizer="characters")
    english = read_items(content.encode(), "a file", tokenizer="spacy:en")
    assert english == read_items(content.encode(), "a file")
    assert english.items[0].tokens != CHARACTERS
    assert english.documents[0].settings == UNSETTLED


def test_given_words_are_kept_without_a_tokenizer():
    rows = "z.\tX\nB.\tX\n\n"
    read = read_items(rows.encode(), "a file", tokenizer="spacy:de")
    assert read.items[0].tokens == ("z.", "B.")
    assert not read.was_split
    assert read.documents[0].settings == UNSETTLED


@pytest.mark.parametrize("file_format", FILE_FORMATS)
def test_tokenizer_is_stored_exported_and_imported(file_format, tmp_path):
    read = read_items(b"Das ist z.B. gut.", "gut", tokenizer="spacy:de")
    assert read.items[0].tokens == ("Das", "ist", "z.B.", "gut", ".")
    (name,) = [document.name for document in read.documents]
    with open_store() as store:
        keep(store, read)
        item = store.items(name)[0]
        tags = ("X",) * 5
        store.save(Annotation(item.id, "anna", item.offsets, tags, tags), ("X", "Y"))
        (document,) = store.documents()
        assert document.settings.tokenizer == "spacy:de"
        file = render(store.annotations(), file_format, {name: document.settings})
    again = read_items(file.encode(), "another")
    assert [each.settings for each in again.documents] == [document.settings]
    with open_store(f"sqlite:///{tmp_path}/again.db") as other:
        keep(other, again)
        assert other.documents()[0].settings == document.settings


def test_invalid_tokenizer_is_rejected(database):
    with pytest.raises(CrfvizError, match=r"such as spacy:de, characters or blanks, got 'letters'"):
        Settings(tokenizer="letters")
    with pytest.raises(FormatError, match=r"line 3: expected a tokenizer .* got 'letters'"):
        settings_of({"tokenizer": "letters"}, "line 3")
    with pytest.raises(
        FormatError, match=r"line 3: cannot read the tokenizer of the settings, got 7"
    ):
        settings_of({"tokenizer": 7}, "line 3")
    with pytest.raises(FormatError, match="expected a tokenizer"):
        read_items(b"text", "a file", tokenizer="letters")
    assert not database.exists()


def test_document_with_an_unavailable_language_is_readable(database):
    with open_store() as store:
        store.add("doc", read_items(b"a b", "doc").items, None, (), Settings(("X", "Y")))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute('UPDATE crfviz_documents SET look = \'{"tokenizer": "spacy:ja"}\'')
    with open_store() as store:
        assert store.documents()[0].settings == Settings(("X", "Y"), tokenizer="spacy:ja")


def test_annotations_commands_accept_a_tokenizer(tmp_path, capsys):
    path = tmp_path / "zh.txt"
    path.write_text(TEXT, "utf-8")
    more = ["--tokenizer", "characters"]
    assert main(["annotations", "import", str(path), *more]) == 0
    assert main(["annotations", "new", "mine", "--tags", "A,B", str(path), *more]) == 0
    with open_store() as store:
        documents = store.documents()
        assert [each.settings.tokenizer for each in documents] == ["characters"] * 2
        assert {store.items(each.name)[0].tokens for each in documents} == {CHARACTERS}
    capsys.readouterr()
    assert main(["annotations", "import", str(path), "--separate", "--tokenizer", "spacy:qqq"]) != 0
    assert "spacy:qqq" in capsys.readouterr().err
