"""`python -m crfviz annotations`."""

import json
import os
import re
from pathlib import Path

import pytest

from crfviz.__main__ import main
from crfviz.annotations.records import Annotation, Item
from crfviz.annotations.store.store import open_store

WORDS = ((0, 3), (4, 8))
ITEMS = [Item("Kim left", WORDS), Item("Who came", WORDS, ("PRON", "VERB"))]


def label(number, annotator, final, **fields):
    return Annotation(number, annotator, WORDS, ("NOUN", "VERB"), final, {0: final[0]}, **fields)


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """A store with two documents, the first with two annotators."""
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", f"sqlite:///{tmp_path}/annotations.db")
    with open_store() as store:
        store.add(
            "a.txt",
            ITEMS,
            labelled=[
                label(0, "anna", ("PROPN", "VERB"), state="done", seconds=3.0),
                label(1, "anna", ("PRON", "AUX"), state="done", seconds=4.0),
                label(0, "ben", ("NOUN", "X"), seconds=9.0),
            ],
        )
        store.add("b.txt", ITEMS[:1])


@pytest.mark.parametrize(
    ("filters", "sentences"),
    [
        (["--copies", "all"], ["Kim left", "Kim left", "Who came"]),
        (["--copies", "agreed"], ["Who came"]),
        (["--annotator", "anna"], ["Kim left", "Who came"]),
        (["--annotator", "anna", "--state", "open"], []),
        (["--state", "open"], ["Kim left"]),
        (["--document", "b.txt"], []),
    ],
)
def test_export_writes_the_filtered_sentences(capsysbinary, filters, sentences):
    assert main(["annotations", "export", "--format", "jsonl", *filters]) == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    assert [json.loads(line)["text"] for line in lines] == sentences


def test_export_with_contradicting_annotators_requires_a_choice(tmp_path, capsys):
    out = tmp_path / "out.conllu"
    assert main(["annotations", "export", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "annotators disagree about 1 of 2 sentences" in said
    assert "choose one annotator or agreed or all copies (--annotator NAME or --copies)" in said
    assert not out.exists()


def test_exported_store_is_imported_into_another(tmp_path, capsys):
    every = ["--copies", "all"]
    files = [tmp_path / f"out{suffix}" for suffix in (".conllu", ".conll", ".jsonl", ".json")]
    for number, file in enumerate(files):
        other = f"sqlite:///{tmp_path}/other{number}.db"
        again = tmp_path / f"again{file.suffix}"
        assert main(["annotations", "export", *every, "--out", str(file)]) == 0
        assert main(["annotations", "import", str(file), "--database", other]) == 0
        assert (
            main(["annotations", "export", *every, "--out", str(again), "--database", other]) == 0
        )
        assert again.read_bytes() == file.read_bytes() != b""
    said = capsys.readouterr().err
    assert f"3 annotations written to {files[0]} (conllu)" in said
    assert f"{files[3]}: spacy, 2 sentences and 3 annotations stored as a.txt" in said
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_import_with_invalid_sentences_requires_keep_good(tmp_path, capsys):
    file = tmp_path / "c.conll"
    file.write_text("Kim\tX\nbroken\n\nKim\tX\n", encoding="utf-8")
    assert main(["annotations", "import", str(file)]) == 2
    said = capsys.readouterr().err
    assert (
        "c.conll, line 2: expected word TAB tag (CoNLL columns), got 1: 'broken' (left out)" in said
    )
    assert "1 sentence cannot be read, so nothing of it was stored; --keep-good" in said
    with open_store() as store:
        assert len(store.documents()) == 2
    assert main(["annotations", "import", "--keep-good", str(file)]) == 0
    with open_store() as store:
        assert [item.gold for item in store.items("c.conll")] == [("X",)]


def test_import_of_existing_sentences_requires_a_choice(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert main(["annotations", "export", "--annotator", "anna", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8").replace('"annotator": "anna"', '"annotator": "cleo"')
    out.write_text(text.replace('"AUX"', '"X"'), encoding="utf-8")
    assert main(["annotations", "import", str(out)]) == 2
    said = capsys.readouterr().err
    assert "the sentences of a.txt are in the store already, so nothing of it was stored" in said
    for _ in range(2):
        assert main(["annotations", "import", "--merge", str(out)]) == 0
    said = capsys.readouterr().err
    assert "2 annotations are new in a.txt, 0 were there, 0 contradict what is there" in said
    assert "0 annotations are new in a.txt, 2 were there, 0 contradict what is there" in said
    out.write_text(text.replace('"AUX"', '"VERB"'), encoding="utf-8")
    assert main(["annotations", "import", "--merge", str(out)]) == 0
    assert "a.txt, sentence 2 (Who came): cleo has X at word 2 in the" in capsys.readouterr().err
    assert main(["annotations", "import", "--separate", str(out)]) == 0
    with open_store() as store:
        assert store.annotators("a.txt") == ["anna", "ben", "cleo"]
        assert store.annotators("a.txt (2)") == ["cleo"]


def test_stats_count_by_document_and_annotator(capsys):
    assert main(["annotations", "stats"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "document  sentences  annotator  done  open  pins  changed  seconds",
        "a.txt     2          anna       2     0     2     3        3.5",
        "a.txt     2          ben        0     1     0     0        -",
        "b.txt     1          -          -     -     -     -        -",
    ]
    assert main(["annotations", "stats", "--json", "--annotator", "ben"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["document"] == "a.txt"
    assert (row["done"], row["open"], row["seconds"]) == (0, 1, None)


def test_failures_are_reported_on_stderr(tmp_path, capsys):
    assert main(["annotations", "import", str(tmp_path / "nothing")]) == 2
    assert "nothing: there is no such file; there are 'annotations.db'" in capsys.readouterr().err
    assert main(["annotations", "import", str(tmp_path)]) == 2
    assert "expected a file to read: Is a directory" in capsys.readouterr().err
    out = ["--state", "done", "--out", str(tmp_path / "no" / "x")]
    assert main(["annotations", "export", *out]) == 2
    assert "cannot be written: No such file" in capsys.readouterr().err
    assert main(["annotations", "stats", "--database", "mysql://x"]) == 2
    assert "crfviz: expected sqlite or postgresql" in capsys.readouterr().err


def test_export_overwrites_only_regular_files(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for out in (tmp_path, tmp_path / "file" / "x", tmp_path / "pipe", Path()):
        assert main(["annotations", "export", "--state", "done", "--out", str(out)]) == 2
        assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("kind", ["export", "stats"])
def test_missing_store_is_reported_and_not_created(kind, tmp_path, capsys):
    for missing, near in (
        (tmp_path / "nosuch/dir/x.db", r"cannot be read: No such file or folder: nosuch"),
        (tmp_path / "annotation.db", r"there is no such file; near are 'annotations.db'"),
    ):
        assert main(["annotations", kind, "--database", f"sqlite:///{missing}"]) == 2
        assert re.search(near, capsys.readouterr().err)
        assert not missing.exists()
    assert not (tmp_path / "nosuch").exists()


def test_import_creates_a_store_but_no_folder(tmp_path, capsys):
    file = tmp_path / "a.txt"
    file.write_text("Kim left")
    database = f"sqlite:///{tmp_path}/nosuch/x.db"
    assert main(["annotations", "import", str(file), "--database", database]) == 2
    assert "No such file or folder: nosuch" in capsys.readouterr().err
    assert not (tmp_path / "nosuch").exists()


def test_missing_or_empty_files_are_reported_and_store_nothing(tmp_path, capsys):
    database = ["--database", f"sqlite:///{tmp_path}/new.db"]
    (tmp_path / "dogs.txt").write_text("Dogs run.")
    assert main(["annotations", "import", str(tmp_path / "dgs.txt"), *database]) == 2
    assert "there is no such file; near are 'dogs.txt'" in capsys.readouterr().err
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "empty.txt").write_text("\n")
    assert main(["annotations", "import", str(tmp_path / "empty.txt")]) == 2
    assert "expected sentences, got none; nothing of it was stored" in capsys.readouterr().err


def test_empty_export_overwrites_no_file(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    out.write_text("before")
    nothing = ["annotations", "export", "--annotator", "anna", "--state", "open"]
    assert main([*nothing, "--out", str(out)]) == 2
    assert "out.jsonl: no annotation is left by the options" in capsys.readouterr().err
    assert out.read_text() == "before"
    assert main(nothing) == 0
    assert "no annotation is left by the options" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--annotator", "ana"], "--annotator: expected a known value, got 'ana'; near are"),
        (["--document", "a.tx"], "near are 'a.txt'"),
        (["--document", "b.txt", "--annotator", "anna"], "got 'anna'; there are none"),
        (["--out", "x.xyz"], "got '.xyz'; there are '.conll', '.conllu', '.json', '.jsonl'"),
        (["--out", "x.jsnl"], "near are '.jsonl', '.json'"),
        (["--out", "nosuch/x.jsonl"], "No such file or folder: nosuch"),
    ],
)  # fmt: skip
def test_misspelt_option_suggests_similar_names_and_writes_nothing(
    options, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("out.jsonl").write_text("before")
    out = [] if "--out" in options else ["--out", "out.jsonl"]
    there = sorted(tmp_path.iterdir())
    assert main(["annotations", "export", *options, *out]) == 2
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == there
    assert Path("out.jsonl").read_text() == "before"


@pytest.fixture
def entities():
    """A third document, labelled with other tags."""
    with open_store() as store:
        tags, words = ("O", "B-ORG", "I-ORG"), ("B-ORG", "O")
        store.add("c.txt", ITEMS[:1])
        (item,) = store.items("c.txt")
        store.save(label(item.id, "anna", words, model="ner", state="done"), tags)


@pytest.mark.usefixtures("entities")
def test_export_of_documents_with_different_tags_requires_a_choice(tmp_path, capsys):
    out, anna = tmp_path / "out.jsonl", ["--annotator", "anna"]
    assert main(["annotations", "export", *anna, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "got 'c.txt' (B-ORG, O); 'a.txt' (AUX, PRON, PROPN, …)" in said
    assert "choose a document (--document NAME), or --mixed-tags" in said
    assert not out.exists()
    for document in ("a.txt", "c.txt"):
        assert main(["annotations", "export", *anna, "--document", document]) == 0
    assert main(["annotations", "export", *anna, "--mixed-tags", "--out", str(out)]) == 0
    other = f"sqlite:///{tmp_path}/other.db"
    assert main(["annotations", "import", str(out), "--database", other]) == 0
    assert "3 annotations stored as a.txt, c.txt" in capsys.readouterr().err


def test_documents_with_the_same_tags_are_exported_together(capsys):
    tags = ("NOUN", "PROPN", "PRON", "VERB", "AUX", "X")
    with open_store() as store:
        for name, of_model in (("c.txt", tags), ("d.txt", tags[::-1])):
            store.add(name, ITEMS[:1])
            (item,) = store.items(name)
            store.save(label(item.id, "anna", ("NOUN", "VERB"), model=name), of_model)
    assert main(["annotations", "export", "--annotator", "anna"]) == 0
    with open_store() as store:
        store.add("e.txt", ITEMS[:1])
        (item,) = store.items("e.txt")
        store.save(label(item.id, "anna", ("NOUN", "VERB"), model="e"), (*tags, "DET"))
    capsys.readouterr()
    assert main(["annotations", "export", "--annotator", "anna"]) == 2
    assert "'c.txt', 'd.txt', 'a.txt' (AUX, NOUN, PRON, …); 'e.txt'" in capsys.readouterr().err


def test_import_of_mixed_tags_requires_a_choice(tmp_path, capsys):
    file = tmp_path / "mixed.conll"
    file.write_text("Kim\tPROPN\nleft\tVERB\n\nYork\tB-LOC\n\nBo\tPROPN\n", encoding="utf-8")
    assert main(["annotations", "import", str(file)]) == 2
    said = capsys.readouterr().err
    assert "mixed.conll, line 4: expected tags of one kind in a document, got 'B-LOC'" in said
    assert "1 sentence cannot be kept, so nothing of it was stored; --keep-good" in said
    assert "--mixed-tags" in said
    with open_store() as store:
        assert len(store.documents()) == 2
    assert main(["annotations", "import", "--mixed-tags", str(file)]) == 0
    assert main(["annotations", "import", "--separate", "--keep-good", str(file)]) == 0
    with open_store() as store:
        assert len(store.items("mixed.conll")) == 3
        assert len(store.items("mixed.conll (2)")) == 2


def test_repeated_merge_reports_that_nothing_was_stored(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert main(["annotations", "export", "--annotator", "anna", "--out", str(out)]) == 0
    text = out.read_text(encoding="utf-8").replace('"annotator": "anna"', '"annotator": "cleo"')
    out.write_text(text, encoding="utf-8")
    for stored in (2, 0):
        capsys.readouterr()
        assert main(["annotations", "import", "--merge", str(out)]) == 0
        said = capsys.readouterr().err
        assert f"{stored} annotations are new in a.txt" in said
        assert f"jsonl, 0 sentences and {stored} annotations stored as a.txt" in said
