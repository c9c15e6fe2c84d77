"""`evaluate` on files in other schemes and formats: the same figures for the same entities."""

import json

import pytest

from crfviz.__main__ import main
from crfviz.text.formats import read_sentences
from crfviz.text.readers.losses import LossWarning
from crfviz.text.readers.spelling import convert_tags
from tests.support.paths import ROOT

EXCERPT = ROOT / "models" / "excerpts" / "btc-dev.conll"
MODEL = "ner-en"


def figures(path, tmp_path):
    """All that is measured of a file, without its name."""
    out = tmp_path / "figures.json"
    assert main(["evaluate", str(path), "--model", MODEL, "--json", str(out)]) == 0
    record = json.loads(out.read_text("utf-8"))
    return {name: value for name, value in record.items() if name != "file"}


def write(path, sentences, scheme, separator):
    rows = (
        "".join(
            f"{word}{separator}{tag}\n"
            for word, tag in zip(
                sentence.tokens, convert_tags(sentence.tags, "BIO", scheme), strict=True
            )
        )
        for sentence in sentences
    )
    path.write_text("\n".join(rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("scheme", "separator"),
    [("IOB1", "\t"), ("IOB1", " X "), ("BIOES", "\t"), ("BILOU", " "), ("BIO", " ")],
)
def test_same_entities_give_the_same_figures_in_every_scheme(scheme, separator, tmp_path, capsys):
    sentences = [each for each in read_sentences(EXCERPT) if " " not in "".join(each.tokens)][:60]
    expected = figures(write(tmp_path / "bio.conll", sentences, "BIO", "\t"), tmp_path)
    written = write(tmp_path / "other.conll", sentences, scheme, separator)
    assert figures(written, tmp_path) == expected
    assert "stopped" not in capsys.readouterr().err


def test_input_error_is_not_reported_as_an_interrupted_run(tmp_path, capsys):
    path = tmp_path / "broken.conll"
    path.write_text("Anna\tB-PER\nlives\n", "utf-8")
    assert main(["evaluate", str(path), "--model", MODEL]) == 2
    said = capsys.readouterr().err
    assert f"{path}, line 2: expected" in said
    assert "stopped" not in said


def test_entities_in_comments_of_a_file_in_parts_are_said_lost(tmp_path):
    path = tmp_path / "a.conllu"
    row = "1\tOslo\t_\tPROPN" + "\t_" * 6
    path.write_text(f'# entities = [[0, 1, "LOC"]]\n{row}\n', "utf-8")
    with pytest.warns(LossWarning, match="entities in the comment “entities” were left out"):
        assert main(["evaluate", str(path), "--model", "upos-en-hmm"]) == 0
