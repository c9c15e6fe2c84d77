"""Files whose parts can be read alone, and those that are rewritten as JSONL before."""

import gzip
import json

import pytest

from crfviz import read_sentences
from crfviz.text.readers.reading import Choice
from crfviz.text.readers.rows import Wanted
from crfviz.text.rewriting import format_of_parts, rewritten
from tests.support.paths import ROOT

CONLLU = "1\tDogs\t_\tNOUN\tNNS" + "\t_" * 5 + "\n2\trun\t_\tVERB\tVBP" + "\t_" * 5 + "\n"
BIO, BILOU = "Anna\tB-PER\nran\tO\n", "Anna\tU-PER\nran\tO\n"


@pytest.mark.parametrize(
    ("content", "choice", "expected"),
    [
        (CONLLU, {}, "conllu"),
        (CONLLU, {"file_format": "conllu-xpos"}, "conllu-xpos"),
        (CONLLU, {"wanted": Wanted(tags="xpos")}, None),
        (CONLLU, {"scheme": "BIO"}, "conllu"),
        (BIO, {}, "columns"),
        (BIO, {"scheme": "BIO"}, "columns"),
        (BIO, {"scheme": "BIOES"}, None),
        (BILOU, {}, "columns"),
        (BILOU, {"scheme": "BIO"}, None),
        ("Anna\tI-PER\nran\tO\n", {}, None),
        ("-DOCSTART-\tO\n\n" + BIO, {}, None),
        ("word\ttag\n" + BIO, {}, None),
        (BIO.replace("\t", " "), {}, None),
        ('{"tokens": ["a"], "tags": ["X"]}\n', {}, "jsonl"),
        ('{"tokens": ["a"], "ner_tags": ["O"]}\n', {}, None),
        ('[{"tokens": ["a"], "tags": ["X"]}]', {}, None),
        (">x\nACGT\n", {}, "fasta"),
    ],
)
def test_only_plain_line_formats_are_split_without_rewriting(content, choice, expected, tmp_path):
    path = tmp_path / "file"
    path.write_text(content, "utf-8")
    assert format_of_parts(path, Choice(strict=False, **choice))[0] == expected
    path.write_bytes(gzip.compress(content.encode()))
    assert format_of_parts(path, Choice(strict=False, **choice))[0] is None


def test_rewritten_file_reads_as_the_same_sentences(tmp_path):
    path = ROOT / "tests" / "fixtures" / "files" / "conll2003-iob1.txt"
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"".join(rewritten(path, Choice())))
    assert read_sentences(out) == read_sentences(path)
    assert all("tags" in json.loads(line) for line in out.read_text("utf-8").splitlines())
