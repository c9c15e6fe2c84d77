"""`evaluate` with the costs of errors: one more decoder in all tables, against plain counting."""

import json

import numpy as np
import pytest

import crfviz
from crfviz.__main__ import main
from crfviz.corpus.tables.cost_curve import cost_curve
from crfviz.corpus.tables.coverage import judge
from crfviz.exceptions import CrfvizError
from crfviz.views.figures.charts import cost_curve_chart
from tests.support.paths import ROOT
from tests.unit.chain.questions.test_costs import kind_of

EXCERPT = ROOT / "models" / "excerpts" / "btc-dev.conll"
COSTS = {"miss": 5.0, "false_alarm": 0.5}


@pytest.fixture(scope="module")
def ner():
    return crfviz.load_tagger("ner-en")


@pytest.fixture(scope="module")
def sentences():
    return crfviz.read_sentences(EXCERPT, fold_handles=True)[:60]


@pytest.fixture(scope="module")
def evaluation(ner, sentences):
    return crfviz.evaluate(ner, sentences, costs=COSTS)


def test_least_cost_is_a_decoder_in_all_tables(ner, sentences, evaluation):
    paths = [crfviz.least_cost(ner.potentials(each.tokens), COSTS).names for each in sentences]
    gold = [tag for each in sentences for tag in each.tags]
    guess = [tag for path in paths for tag in path]
    accuracy = sum(map(str.__eq__, gold, guess)) / len(gold)
    assert evaluation.figures["least_cost"]["token_accuracy"] == pytest.approx(accuracy, abs=1e-6)
    row = next(row for row in evaluation.tables["decoders"] if row["decoder"] == "least cost")
    assert row["words_right"] == pytest.approx(accuracy, abs=1e-9)
    assert evaluation.results.names(evaluation.results.tags["least_cost"]) == paths
    assert "least cost" in str(evaluation)
    viterbi = [crfviz.viterbi(ner.potentials(each.tokens)).names for each in sentences]
    for name, of in (("viterbi", viterbi), ("least_cost", paths)):
        pairs = list(zip(gold, (tag for path in of for tag in path), strict=True))
        kinds = [kind_of(a, b) for a, b in pairs if a != b]
        for row in evaluation.tables["costs"]:
            assert row[name] == kinds.count(row["error"].replace(" ", "_"))
        paid = sum(COSTS.get(kind, 1.0) for kind in kinds) / len(gold)
        found = evaluation.figures["least_cost"]["cost_per_word"][name]
        assert found == pytest.approx(paid, abs=1e-6)
    by_error = {row["error"]: row["cost"] for row in evaluation.tables["costs"]}
    assert by_error == {"miss": 5, "false alarm": 0.5, "wrong type": 1, "cut": 1, "merge": 1}


def test_recall_rises_with_the_cost_of_a_miss(ner, sentences, evaluation):
    least, viterbi = evaluation.figures["least_cost"], evaluation.figures["viterbi"]
    assert least["entity_recall"] >= viterbi["entity_recall"]
    cautious = crfviz.evaluate(ner, sentences, costs={"miss": 0.1, "false_alarm": 5.0})
    assert cautious.figures["least_cost"]["entity_recall"] <= viterbi["entity_recall"]


def test_matrix_of_costs_lists_the_pairs_of_tags(sentences):
    tagger = crfviz.load_tagger("ner-en")
    K = len(tagger.tags)
    found = crfviz.evaluate(tagger, sentences, costs=np.ones((K, K)) - np.eye(K))
    rows = found.tables["costs"]
    wrong = [sum(row[name] for row in rows) for name in ("viterbi", "least_cost")]
    assert wrong[0] == found.figures["errors"]["words"]
    assert wrong[1] == sum(
        a != b
        for each in sentences
        for a, b in zip(
            each.tags,
            crfviz.least_cost(tagger.potentials(each.tokens), np.ones((K, K)) - np.eye(K)).names,
            strict=True,
        )
    )
    assert all(" as " in row["error"] for row in rows)


def test_wrong_costs_are_refused(ner, sentences):
    with pytest.raises(CrfvizError, match="expected costs of"):
        crfviz.evaluate(ner, sentences, costs={"mis": 3})
    with pytest.raises(CrfvizError, match="expected tags of entities"):
        crfviz.evaluate(crfviz.load_tagger("upos-en-hmm"), [(["a"], ["X"])], costs={})


def test_command_takes_costs_in_any_shards(tmp_path, capsys):
    outputs = []
    for size in ("2000000", "4000"):
        out, report = tmp_path / f"{size}.json", tmp_path / f"{size}.html"
        options = ["--model", "ner-en", "--fold-handles", "--costs", "miss=5,false_alarm=0.5"]
        files = ["--json", str(out), "--report", str(report), "--shard-bytes", size]
        assert main(["evaluate", str(EXCERPT), *options, *files]) == 0
        outputs.append(json.loads(out.read_text("utf-8")))
        assert "least cost" in report.read_text("utf-8")
    assert outputs[0]["tables"]["costs"] == outputs[1]["tables"]["costs"]
    assert outputs[0]["least_cost"] == outputs[1]["least_cost"]
    assert outputs[0]["least_cost"]["costs"] == "miss=5,false_alarm=0.5"
    printed = capsys.readouterr().out
    assert "least cost" in printed
    assert "as trained, the others add the rules of BIO." in printed
    assert "With the costs miss=5,false_alarm=0.5 (other errors 1), a word costs" in printed
    whole = crfviz.evaluate(
        crfviz.load_tagger("ner-en"),
        crfviz.read_sentences(EXCERPT, fold_handles=True),
        costs=COSTS,
    )
    assert outputs[0]["tables"]["costs"] == whole.tables["costs"]


@pytest.mark.parametrize(
    ("model", "costs", "message"),
    [
        ("ner-en", "miss", "costs must be like miss=3,false_alarm=1"),
        ("ner-en", "fault=3", "costs must be like"),
        ("upos-en-hmm", "miss=3", "expected tags of entities"),
    ],
)
def test_command_refuses_wrong_costs(model, costs, message, capsys):
    assert main(["evaluate", str(EXCERPT), "--model", model, "--costs", costs]) > 0
    assert message in capsys.readouterr().err


def test_curve_equals_the_evaluation_at_each_value(ner, sentences):
    judged = list(judge(ner, sentences))
    table = cost_curve(judged, ner.tags, {"false_alarm": 0.5}, "miss", (0.0, 0.3, 5.0))
    assert [row["value"] for row in table] == [0.0, 0.3, 5.0]
    assert (table[0]["precision"], table[0]["recall"]) == (None, 0.0)  # nothing is predicted
    for row in table[1:]:
        costs = {"miss": row["value"], "false_alarm": 0.5}
        expected = crfviz.evaluate(ner, sentences, costs=costs).figures["least_cost"]
        for name in ("precision", "recall", "f1"):
            assert row[name] == pytest.approx(expected[f"entity_{name}"], abs=1e-6)
    assert cost_curve_chart(table, 0.3, "miss").to_dict()
    assert cost_curve_chart(table[:1], 0.0, "miss").to_dict()
