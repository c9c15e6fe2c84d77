"""The evaluation in one call, and of two taggers: against counts by hand, SciPy and seqeval."""

import json

import pytest
from scipy.stats import binomtest

from crfviz.__main__ import main
from crfviz.corpus.run.tagging import run
from crfviz.corpus.table import rounded
from crfviz.corpus.tables.evaluation import (
    comparison_tables,
    comparison_text,
    disagreements,
    evaluate,
)
from crfviz.exceptions import FormatError, ShapeError, UnknownTagError
from crfviz.taggers.registry import load_tagger
from crfviz.text.formats import SentenceFile, read_sentences, render_sentences
from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger
from tests.support.paths import EXCERPT
from tests.support.tagged import (
    NER,
    NER_SENTENCES,
    POS,
    POS_SENTENCES,
    viterbi_tags,
)

GOLD = [(["a", "b"], ["A", "B"]), (["b", "a"], ["B", "B"])]


def tagger(**better):
    return FakeTagger(["A", "B"], {"a": {"A": 2.0}, "b": {"B": 1.0}} | better)


def test_evaluate_accepts_pairs_objects_and_files(tmp_path):
    file = tmp_path / "gold.conll"
    file.write_text("a\tA\nb\tB\n\nb\tB\na\tB\n")
    objects = [Sentence(tuple(words), tuple(tags)) for words, tags in GOLD]
    for given in (GOLD, iter(GOLD), objects, file, str(file)):
        found = evaluate(tagger(), given)
        assert found.figures["viterbi"]["token_accuracy"] == 0.75
        assert found.figures["viterbi"]["sentence_accuracy"] == 0.5
        assert found.tables["confusion"][-1] == {"gold": "B", "predicted": "A", "words": 1}
        assert found.results.gold.tolist() == [0, 1, 1, 1]
        assert sum(row["count"] for row in found.tables["calibration"] if row["of"] == "words") == 4
    assert found.figures["file"] == str(file)
    assert "75.00" in str(found)
    assert len(repr(found)) < 2000


def test_evaluate_compares_two_taggers_and_a_rule():
    other = tagger(a={"B": 3.0})
    found = evaluate(tagger(), GOLD, against=other, rule="A .*")
    words = next(row for row in found.tables["models"] if row["unit"] == "words")
    assert (words["both_right"], words["wins"], words["losses"]) == (2, 1, 1)
    assert found.figures["rule"]["changed"] == 1


def test_invalid_gold_data_is_rejected(tmp_path):
    with pytest.raises(UnknownTagError, match="X"):
        evaluate(tagger(), [(["a"], ["X"])])
    with pytest.raises(FormatError):
        evaluate(tagger(), [])
    with pytest.raises(FormatError, match="expected a file to read"):
        evaluate(tagger(), tmp_path / "gone")


OTHER = FakeTagger(
    ["ADP", "NOUN", "VERB"], {"run": {"VERB": 1.0}, "Dogs": {"NOUN": 1.0}, "to": {"VERB": 0.5}}
)
LAZY = FakeTagger(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"], {"Ann": {"B-PER": 1}}, scheme="BIO")


def model_table(first, second, sentences):
    return comparison_tables(first, second, sentences)["models"]


def test_words_and_sentences_of_a_comparison_are_counted_by_hand():
    words, sentences = model_table(
        run(POS, POS_SENTENCES), run(OTHER, POS_SENTENCES), POS_SENTENCES
    )
    right = [
        [
            [g == p for g, p in zip(s.tags, tags, strict=True)]
            for s, tags in zip(POS_SENTENCES, side, strict=True)
        ]
        for side in (viterbi_tags(POS, POS_SENTENCES), viterbi_tags(OTHER, POS_SENTENCES))
    ]
    flat = list(zip(*([w for s in side for w in s] for side in right), strict=True))
    whole = list(zip(*([all(s) for s in side] for side in right), strict=True))
    for row, pairs in ((words, flat), (sentences, whole)):
        assert row["both_right"] == pairs.count((True, True))
        assert row["wins"] == pairs.count((True, False))
        assert row["losses"] == pairs.count((False, True))
        assert row["both_wrong"] == pairs.count((False, False))
        n = row["wins"] + row["losses"]
        assert row["p"] == pytest.approx(binomtest(row["wins"], n).pvalue if n else 1.0, rel=1e-9)
        assert row["first"] == pytest.approx(sum(a for a, _ in pairs) / len(pairs), abs=1e-12)
    assert words["wins"] + words["losses"] > 0


def test_entities_of_a_comparison_are_counted_from_gold():
    first, second = run(NER, NER_SENTENCES), run(LAZY, NER_SENTENCES)
    row = model_table(first, second, NER_SENTENCES)[2]
    gold = sum(tag.startswith("B-") for s in NER_SENTENCES for tag in s.tags)
    assert sum(row[k] for k in ("both_right", "wins", "losses", "both_wrong")) == gold
    strict = (first.entity_right.sum(), second.entity_right.sum())
    assert (row["both_right"] + row["wins"], row["both_right"] + row["losses"]) == strict


def test_entities_are_omitted_if_gold_tags_differ():
    others = [
        Sentence(s.tokens, tuple("O" if tag == "B-LOC" else tag for tag in s.tags))
        for s in NER_SENTENCES
    ]
    rows = model_table(run(NER, NER_SENTENCES), run(LAZY, others), NER_SENTENCES)
    assert [row["unit"] for row in rows] == ["words", "sentences"]


def test_differing_sentences_are_listed_by_kind():
    first, second = run(POS, POS_SENTENCES), run(OTHER, POS_SENTENCES)
    tables = comparison_tables(first, second, POS_SENTENCES)
    words, sentences = tables["models"]
    rows = tables["disagreements"]
    kinds = [row["kind"] for row in rows]
    assert kinds.count("win") == sentences["wins"]
    assert kinds.count("loss") == sentences["losses"]
    assert kinds.count("both wrong") == sentences["both_wrong"]
    assert sum(row["won"] for row in rows) == words["wins"]
    assert sum(row["lost"] for row in rows) == words["losses"]
    assert sum(row["wrong_in_both"] for row in rows) == words["both_wrong"]
    for row in rows:
        sentence = POS_SENTENCES[row["sentence"] - 1]
        assert row["text"] == " ".join(sentence.tokens)
        place = row["position"] - 1
        assert row["where"].startswith(f"{sentence.tokens[place]} {sentence.tags[place]} ")


def test_tagger_does_not_differ_from_itself():
    found = run(POS, POS_SENTENCES)
    rows = model_table(found, found, POS_SENTENCES)
    assert all(row["wins"] == row["losses"] == 0 and row["p"] == 1 for row in rows)


def test_disagreement_list_is_limited():
    found, other = run(POS, POS_SENTENCES), run(OTHER, POS_SENTENCES)
    assert len(disagreements(found, other, POS_SENTENCES, most=1)) == 1


def test_comparison_of_different_sentences_is_rejected():
    with pytest.raises(ShapeError, match="same sentences, got 5 sentences of 14 words and 1 of 1"):
        model_table(run(POS, POS_SENTENCES), run(POS, [Sentence(("Dogs",), ("NOUN",))]), [])


def test_evaluate_command_gives_the_same_numbers(tmp_path, capsys):
    path = tmp_path / "few.conllu"
    path.write_text(render_sentences(read_sentences(EXCERPT)[:20], "conllu"), encoding="utf-8")
    out, report = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["evaluate", str(path), "--model", "upos-en-hmm", "--against", "upos-en-perceptron"]
    assert main([*arguments, "--json", str(out), "--report", str(report)]) == 0
    sentences = SentenceFile(path)
    runs = [run(load_tagger(name), sentences) for name in ("upos-en-hmm", "upos-en-perceptron")]
    tables = comparison_tables(*runs, sentences)
    record = json.loads(out.read_text())
    for name, table in tables.items():
        assert record["tables"][name] == rounded(table)
    assert record["against"] == "upos-en-perceptron"
    text = comparison_text("upos-en-hmm", "upos-en-perceptron", tables["models"])
    assert text in capsys.readouterr().out
    assert "Compare models" in report.read_text()
