"""`tag --file`: files and pipes in every format, tagged, with all else as it was."""

import io
import json
from types import SimpleNamespace

import pytest

from crfviz.__main__ import main
from crfviz.corpus.shards.tagging_job import BAR, _add_marginals
from crfviz.taggers.registry import load_tagger
from crfviz.text.formats import LAYOUTS, parse_sentences
from crfviz.text.name_lists import parse_names
from tests.support import oracle
from tests.support.small_disk import small_disk
from tests.support.tiny_tagger import save_tiny
from tests.support.workers import Shuffled

CONLLU = """# sent_id = 1
# text = He runs.
1	He	he	PRON	PRP	_	2	nsubj	_	_
2-3	runs.	_	_	_	_	_	_	_	_
2	runs	run	VERB	VBZ	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	Marginals=X:1|A=b

1	dogs	dog	_	_	_	0	root	_	_
1.1	seen	_	_	_	_	_	_	_	_

"""
IOB2 = "# c\n1\tHe\tO\t-\tann\n2\truns\tO\t-\tann\n\n1\tdogs\tO\t-\tann\n"
COLUMNS = "He\tx\ty\tNOUN\nruns\tx\ty\tVERB\n\n\ndogs\tx\ty\t_\n"
ALONE = "He\r\nruns\r\n\r\n# c\r\ndogs\r\n"
JSONL = '{"id": 7, "tokens": ["He", "runs"], "text": "He runs"}\n\n{"tokens": ["dogs"]}\n'
FILES = {"conllu": CONLLU, "iob2": IOB2, "columns": COLUMNS, "jsonl": JSONL}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")


def tag(model, content, tmp_path, *options):
    """What the command makes of a file."""
    file, out = tmp_path / "in.txt", tmp_path / "out.txt"
    file.write_text(content, encoding="utf-8", newline="")
    named = ["--model", str(model), "--file", str(file), "--out", str(out)]
    assert main(["tag", *named, *options]) == 0
    return out.read_text(encoding="utf-8")


def by_enumeration(model, words):
    """The tags of the best path."""
    tagger = load_tagger(model)
    return tuple(tagger.tags[k] for k in oracle.allowed(tagger.potentials(words))[0][0])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("options", [[], ["--marginals"]])
def test_tagged_file_has_the_best_paths(name, options, model, tmp_path):
    content = FILES[name]
    before = parse_sentences(content)
    after = parse_sentences(tag(model, content, tmp_path, *options), file_format=name)
    assert [sentence.tokens for sentence in after] == [sentence.tokens for sentence in before]
    assert [sentence.text for sentence in after] == [sentence.text for sentence in before]
    for sentence in after:
        assert sentence.tags == by_enumeration(model, sentence.tokens)


def test_conllu_output_changes_only_the_tags(model, tmp_path):
    found = tag(model, CONLLU, tmp_path).splitlines()
    for line, was in zip(found, CONLLU.splitlines(), strict=True):
        cells, old = line.split("\t"), was.split("\t")
        assert cells[:3] + cells[4:] == old[:3] + old[4:]
        if len(old) == 10 and not old[0].isdecimal():
            assert line == was
    fifth = tag(model, CONLLU, tmp_path, "--format", "conllu-xpos").splitlines()
    assert fifth[2].split("\t")[3] == "PRON"
    assert fifth[2].split("\t")[4] == found[2].split("\t")[3]


def test_untagged_columns_get_a_tag_column(model, tmp_path):
    found = tag(model, ALONE, tmp_path, "--format", "columns")
    first, second = by_enumeration(model, ["He", "runs"])
    (third,) = by_enumeration(model, ["dogs"])
    assert found == f"He\t{first}\nruns\t{second}\n\n# c\ndogs\t{third}\n"


def test_other_json_fields_are_unchanged(model, tmp_path):
    first, blank, second = tag(model, JSONL, tmp_path).split("\n")[:3]
    tags = list(by_enumeration(model, ["He", "runs"]))
    assert json.loads(first) == {"id": 7, "tokens": ["He", "runs"], "text": "He runs", "tags": tags}
    assert blank == ""
    assert json.loads(second)["tokens"] == ["dogs"]


def read_marginals(name, content):
    """The marginals in a tagged file, by word."""
    if name == "jsonl":
        objects = [json.loads(line) for line in content.splitlines() if line]
        return [each for fields in objects for each in fields["marginals"]]
    rows = [line.split("\t") for line in content.splitlines() if line and line[0] != "#"]
    rows = [row for row in rows if name == "columns" or row[0].isdecimal()]
    column = {"conllu": 9, "iob2": 3, "columns": -2}[name]
    told = [row[column].rpartition("Marginals=")[2].split(",") for row in rows]
    return [{pair.split(":")[0]: float(pair.split(":")[1]) for pair in pairs} for pairs in told]


@pytest.mark.parametrize("name", FILES)
def test_written_marginals_equal_enumeration(name, model, tmp_path):
    content = FILES[name]
    found = iter(read_marginals(name, tag(model, content, tmp_path, "--marginals")))
    tagger = load_tagger(model)
    for sentence in parse_sentences(content):
        wanted = oracle.marginals(tagger.potentials(sentence.tokens))
        for t in range(len(sentence.tokens)):
            told = next(found)
            assert list(told.values()) == sorted(told.values(), reverse=True)
            for k, name_of_tag in enumerate(tagger.tags):
                assert told.get(name_of_tag, 0.0) == pytest.approx(wanted.get((t, k), 0), abs=1e-6)
    assert next(found, None) is None


def test_marginals_of_tags_with_commas_and_bars_are_read_back():
    marginals = {"a,b": 0.5, '"': 0.25, "N|Case=Nom": 0.125, "x:y": 0.125}
    cells = ["word", "tag"]
    _add_marginals(cells, marginals, LAYOUTS["columns"])
    pairs = [each.rpartition(":") for each in parse_names(cells[1])]
    assert {tag: float(p) for tag, _, p in pairs} == marginals
    cells = ["1", "word", *"_" * 8]
    _add_marginals(cells, marginals, LAYOUTS["conllu"])
    (own,) = cells[9].split("|")
    text = own.removeprefix("Marginals=").replace(BAR, "|")
    assert [each.rpartition(":")[0] for each in parse_names(text)] == [*marginals]


def test_misc_column_keeps_its_other_attributes(model, tmp_path):
    once = tag(model, CONLLU, tmp_path, "--marginals")
    misc = [line.split("\t")[9] for line in once.splitlines() if line[:1].isdigit()]
    assert misc[2].startswith("SpaceAfter=No|Marginals=")
    assert misc[3].startswith("A=b|Marginals=")
    assert misc[1] == "_"
    assert tag(model, once, tmp_path, "--marginals") == once


def test_pipe_is_tagged_like_a_file(model, tmp_path, monkeypatch, capfdbinary):
    wanted = tag(model, CONLLU, tmp_path)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CONLLU.encode())))
    capfdbinary.readouterr()
    assert main(["tag", "--file", "-", "--model", str(model), "--shard-bytes", "20"]) == 0
    assert capfdbinary.readouterr().out.decode() == wanted


@pytest.mark.parametrize("workers", [2, 7])
def test_several_workers_write_the_same_file_as_one(workers, model, tmp_path, monkeypatch):
    monkeypatch.setattr("crfviz.commands.sharded_work.ProcessPool", Shuffled)
    content = CONLLU * 50
    options = ["--workers", str(workers), "--shard-bytes", "700"]
    assert tag(model, content, tmp_path, *options) == tag(model, CONLLU, tmp_path) * 50
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_full_disk_keeps_the_old_file_and_resumes(model, tmp_path, capsys):
    file, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    file.write_text(CONLLU * 300, encoding="utf-8")
    out.write_text("older", encoding="utf-8")
    command = ["tag", "--file", str(file), "--model", str(model), "--out", str(out)]
    with small_disk(40_000):
        assert main([*command, "--shard-bytes", "20000"]) == 2
    assert f"{out}: cannot be written: File too large" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "older"
    assert main([*command, "--shard-bytes", "20000"]) == 0
    assert "went on from" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8").count("# text = He runs.") == 300
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.conllu", "out.conllu"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("He\tX\nruns\t\n", [], "line 2: expected a tag in column 2, got none"),
        ("{}\n", [], 'line 1: expected a sentence such as {"tokens"'),
        ("He\tX\n\xff", ["--format", "conllu"], "line 1: expected 10 columns"),
    ],
)
def test_invalid_input_is_reported_with_its_line(
    content, options, message, model, tmp_path, capsys
):
    file = tmp_path / "bad.txt"
    file.write_text(content, encoding="utf-8")
    assert main(["tag", "--file", str(file), "--model", str(model), *options]) == 2
    assert f"crfviz: {file}, {message}" in capsys.readouterr().err


def test_lines_of_plain_text_become_jsonl(model, tmp_path, capsys):
    file = tmp_path / "plain.txt"
    file.write_text("He runs.\n\nHe\n", encoding="utf-8")
    assert main(["tag", "--file", str(file), "--model", str(model)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["tokens"] for row in rows] == [["He", "runs", "."], ["He"]]
    assert [row["text"] for row in rows] == ["He runs.", "He"]
    assert all(len(row["tags"]) == len(row["tokens"]) for row in rows)


@pytest.mark.parametrize("options", [[], ["--marginals"]])
def test_fasta_letters_become_lines_of_columns(options, tmp_path):
    content = ">one island\nACG\ncg\n; remark\n>two\nTT\n"
    written = tag("textbook/cpg", content, tmp_path, *options)
    assert written.startswith("# one island\nA\t")
    assert "\n\n# two\nT\t" in written
    sentences = parse_sentences(written)
    assert [sentence.tokens for sentence in sentences] == [tuple("ACGCG"), tuple("TT")]
    for sentence in sentences:
        assert sentence.tags == by_enumeration("textbook/cpg", sentence.tokens)
    if options:
        first = dict(each.split(":") for each in written.split("\n")[1].split("\t")[1].split(","))
        assert set(first) == {"A+", "A-"}
        assert sum(map(float, first.values())) == pytest.approx(1, abs=2e-6)


def test_unknown_fasta_letter_is_reported_with_its_line(tmp_path, capsys):
    file = tmp_path / "in.fasta"
    file.write_text(">one\nACGT\n\n>two\nACNT\n", encoding="utf-8")
    assert main(["tag", "--file", str(file), "--model", "textbook/cpg"]) == 2
    assert f"{file}, line 5: textbook/cpg has no observation 'N'" in capsys.readouterr().err


def test_unknown_observation_is_reported_with_its_line(tmp_path, capsys):
    file = tmp_path / "days.conll"
    file.write_text("2\t_\n\n1\t_\n4\t_\n", encoding="utf-8")
    assert main(["tag", "--file", str(file), "--model", "textbook/ice-cream"]) == 2
    assert f"{file}, line 3: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Hi", "--marginals"], "--marginals: expected --file with it"),
        (["Hi", "--file", "x"], "expected a sentence or --file, got both"),
        (["--file", "/none"], "/none: expected a file to read, got: No such file"),
    ],
)
def test_incompatible_options_are_rejected(arguments, message, model, capsys):
    assert main(["tag", *arguments, "--model", str(model)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "texts"),
    [([], ["He runs.", "She ran.", "Fine!"]), (["--whole"], ["He runs. She ran.", "Fine!"])],
)
def test_plain_text_is_tagged_sentence_by_sentence(options, texts, model, tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_text("He runs. She ran.\n\nFine!\n", "utf-8")
    assert main(["tag", "--file", str(path), "--model", str(model), *options]) == 0
    written = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["text"] for each in written] == texts
