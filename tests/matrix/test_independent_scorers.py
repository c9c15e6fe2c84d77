"""The figures of shipped models on real files, against scikit-learn, seqeval and nervaluate.

On the shipped excerpts; where the variable CRFVIZ_DATA names the folder of the corpora, on the test
files as well.
"""

import os
from pathlib import Path

import pytest
from nervaluate import Evaluator
from seqeval.metrics import f1_score as entity_f1
from seqeval.metrics import precision_score, recall_score
from seqeval.scheme import IOB2
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.taggers.registry import SHIPPED, load_tagger
from crfviz.text.formats import SentenceFile

DATA = Path(os.environ.get("CRFVIZ_DATA", "nowhere"))
EXCERPTS = SHIPPED / "excerpts"
FILES = [
    ("upos-en", EXCERPTS / "ewt-dev.conllu"),
    ("upos-en-contextfree", EXCERPTS / "ewt-dev.conllu"),
    ("ner-en", EXCERPTS / "btc-dev.conll"),
    ("upos-en", DATA / "ud-english-ewt/test.conllu"),
    ("upos-en-contextfree", DATA / "ud-english-ewt/test.conllu"),
    ("ner-en", DATA / "uner-english-ewt/test.iob2"),
    ("ner-en", DATA / "broad-twitter-corpus/test.conll"),
]
SAME = 1e-6  # the record has six digits


def flat(sentences):
    return [tag for tags in sentences for tag in tags]


@pytest.mark.parametrize(("model", "path"), FILES, ids=lambda value: getattr(value, "stem", value))
def test_figures_equal_independent_scorers(model, path):
    if not path.exists():
        pytest.skip("CRFVIZ_DATA does not name the folder of the corpora")
    found = run(load_tagger(model), SentenceFile(path, fold_handles=path.suffix == ".conll"))
    tables = tables_of(found)
    measured = (
        full_record(found, path.name, tables),
        tables,
        found.names(found.gold),
        found.names(found.tags["viterbi"]),
    )
    check_words_and_tags(*measured)
    if found.tagger.scheme is not None:
        check_entities(*measured)


def check_words_and_tags(record, tables, gold, guess):
    viterbi = record["viterbi"]
    assert viterbi["token_accuracy"] == pytest.approx(
        accuracy_score(flat(gold), flat(guess)), abs=SAME
    )
    whole = sum(a == b for a, b in zip(gold, guess, strict=True)) / len(gold)
    assert viterbi["sentence_accuracy"] == pytest.approx(whole, abs=SAME)
    labels = [row["tag"] for row in tables["tags"]]
    wanted = precision_recall_fscore_support(
        flat(gold), flat(guess), labels=labels, zero_division=0
    )
    for column, name in enumerate(("precision", "recall", "f1", "gold")):
        assert [row[name] for row in tables["tags"]] == pytest.approx(wanted[column], abs=SAME)
    cells = {(row["gold"], row["predicted"]): row["words"] for row in tables["confusion"]}
    matrix = confusion_matrix(flat(gold), flat(guess), labels=labels)
    assert {
        (labels[i], labels[j]): n for i, row in enumerate(matrix) for j, n in enumerate(row) if n
    } == cells


def check_entities(record, tables, gold, guess):
    for name, score in (
        ("entity_precision", precision_score),
        ("entity_recall", recall_score),
        ("entity_f1", entity_f1),
    ):
        wanted = score(gold, guess, mode="strict", scheme=IOB2)
        assert record["viterbi"][name] == pytest.approx(wanted, abs=SAME)
    types = sorted({tag[2:] for tag in flat(gold) + flat(guess)} - {""})
    theirs = Evaluator(gold, guess, tags=types, loader="list").evaluate()["overall"]
    names = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
    for row in tables["entity_schemes"]:
        wanted = theirs[names[row["scheme"]]]
        assert row["correct"] == wanted.correct
        assert row["f1"] == pytest.approx(wanted.f1, abs=SAME)
