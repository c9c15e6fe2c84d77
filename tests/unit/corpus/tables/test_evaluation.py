"""The evaluation in one call, against counts by hand."""

import pytest

from crfviz.corpus.tables.evaluation import evaluate
from crfviz.exceptions import FormatError, UnknownTagError
from crfviz.text.sentences import Sentence
from tests.support.fake_tagger import FakeTagger

GOLD = [(["a", "b"], ["A", "B"]), (["b", "a"], ["B", "B"])]


def tagger(**better):
    return FakeTagger(["A", "B"], {"a": {"A": 2.0}, "b": {"B": 1.0}} | better)


def test_sentences_come_as_pairs_as_objects_or_as_a_file(tmp_path):
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


def test_two_taggers_and_a_rule():
    other = tagger(a={"B": 3.0})
    found = evaluate(tagger(), GOLD, against=other, rule="A .*")
    words = next(row for row in found.tables["models"] if row["unit"] == "words")
    assert (words["both_right"], words["wins"], words["losses"]) == (2, 1, 1)
    assert found.figures["rule"]["changed"] == 1


def test_what_cannot_be_evaluated_is_refused(tmp_path):
    with pytest.raises(UnknownTagError, match="X"):
        evaluate(tagger(), [(["a"], ["X"])])
    with pytest.raises(FormatError):
        evaluate(tagger(), [])
    with pytest.raises(FormatError, match="expected a file to read"):
        evaluate(tagger(), tmp_path / "gone")
