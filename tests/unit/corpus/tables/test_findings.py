"""The sentences that begin a report: their figures are counted anew from the tags."""

from collections import Counter

import pytest

from crfviz.corpus.run.tagging import run
from crfviz.corpus.tables.findings import findings, instructive
from crfviz.corpus.tables.report import full_record, tables_of
from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger
from tests.support.tagged import NER, NER_SENTENCES, POS, POS_SENTENCES


def said(tagger, sentences):
    results = run(tagger, sentences)
    tables = tables_of(results)
    return findings(full_record(results, "f", tables), tables), tables, results


def test_five_sentences_name_the_figures_counted_from_the_tags():
    lines, tables, results = said(POS, POS_SENTENCES)
    gold = [tag for sentence in POS_SENTENCES for tag in sentence.tags]
    predicted = [tag for row in results.names(results.tags["viterbi"]) for tag in row]
    wrong = [(a, b) for a, b in zip(gold, predicted, strict=True) if a != b]
    right = 100 * (1 - len(wrong) / len(gold))
    assert len(lines) == 5
    assert f"{right:.1f} % of {len(gold):,} words" in lines[0]
    missed = Counter(a for a, _ in wrong)
    named = lines[1].removeprefix("Missed most is ").partition(":")[0]
    assert missed[named] == max(missed.values())
    assert f": {missed[named]} of its {gold.count(named)} words" in lines[1]
    surest = max(tables["errors"], key=lambda row: row["p_predicted"])
    assert f"(sentence {surest['sentence']}): probability {surest['p_predicted']:.3g}" in lines[3]


def test_entities_begin_with_their_f1():
    lines, _, _ = said(NER, NER_SENTENCES)
    assert lines[0].startswith("Entity F1 is ")


def test_run_without_errors_has_no_further_findings():
    tagger = FakeTagger(["X", "Y"], {"a": {"X": 1.0}})
    lines, _, _ = said(tagger, [Sentence(("a",), ("X",))])
    assert lines == [
        "100.0 % of 1 word and 100.0 % of 1 sentence are right.",
        "No word is wrong.",
    ]


def row(gold, predicted, sure, text="a b"):
    return {"gold": gold, "predicted": predicted, "p_predicted": sure, "text": text}


def test_instructive_errors_take_each_pair_once_before_a_second_time():
    rows = [row("X", "Y", 0.5), row("X", "Y", 0.9), row("Y", "X", 0.6)]
    assert instructive(rows) == [rows[1], rows[2], rows[0]]
    assert instructive(rows, most=2) == [rows[1], rows[2]]


@pytest.mark.parametrize(("words", "kept"), [(16, 1), (17, 0)])
def test_sentences_too_long_to_draw_are_not_listed(words, kept):
    assert len(instructive([row("X", "Y", 0.5, " ".join("w" * words))])) == kept
