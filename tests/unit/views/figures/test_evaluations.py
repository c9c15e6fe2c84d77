"""Measured figures of models as tables and charts, and what was published beside them."""

import json

import pandas as pd
import pytest

from crfviz.corpus.tables.accuracy import TITLES
from crfviz.taggers.registry import SHIPPED
from crfviz.views.figures.evaluations import (
    DIGITS,
    MEASURES,
    PUBLISHED_DATA,
    comparison_frame,
    decoder_charts,
    evaluation_frame,
    evaluation_table,
)

DECODERS = ["independent", "left_to_right", "viterbi", "max_marginal"]
REPORT = json.loads((SHIPPED / "upos-en-perceptron" / "comparison.json").read_text())


def decoder(accuracy, *, f1=None, invalid=None):
    scores = {"invalid_bio": invalid}
    for measure, value in zip(MEASURES, (accuracy, accuracy / 2, f1), strict=True):
        scores[measure] = value
        scores[f"{measure}_interval"] = None if value is None else [value - 0.01, value + 0.01]
    return scores


def record(**decoders):
    return {"sentences": 7, "tokens": 50, "ece": 0.0125, **decoders}


TAGS = record(
    independent=decoder(0.9),
    left_to_right=decoder(0.91),
    viterbi=decoder(0.95),
    max_marginal=decoder(0.96),
)
SPANS = record(
    independent=decoder(0.8, f1=0.4, invalid=12),
    left_to_right=decoder(0.81, f1=0.5, invalid=3),
    viterbi=decoder(0.85, f1=0.6, invalid=0),
    max_marginal=decoder(0.86, f1=0.61, invalid=1),
)
EVALUATIONS = {"upos": {"ewt/test": TAGS}, "ner": {"btc/test": SPANS, "uner/test": SPANS}}


def test_frame_has_a_row_per_model_file_and_decoder():
    frame = evaluation_frame(EVALUATIONS)
    assert len(frame) == 3 * len(TITLES)
    row = frame[(frame["file"] == "btc/test") & (frame["decoder"] == "Viterbi")].iloc[0]
    assert row["model"] == "ner"
    assert row["token_accuracy"] == 0.85
    assert row["entity_f1"] == 0.6
    assert row["entity_f1_low"] == pytest.approx(0.59)
    assert row["entity_f1_high"] == pytest.approx(0.61)
    assert row["invalid_bio"] == 0
    assert row["ece"] == 0.0125


def test_unmeasured_values_are_nan():
    frame = evaluation_frame({"upos": {"ewt/test": TAGS}})
    assert frame["entity_f1"].isna().all()
    assert frame["entity_f1_low"].isna().all()
    assert frame["invalid_bio"].isna().all()


def test_frame_without_evaluations_is_empty_with_the_same_columns():
    frame = evaluation_frame({"upos": {}})
    assert frame.empty
    assert list(frame.columns) == list(evaluation_frame(EVALUATIONS).columns)
    assert evaluation_table(frame).empty


def test_table_shows_per_cent_and_whole_counts():
    table = evaluation_table(evaluation_frame(EVALUATIONS))
    viterbi = table[(table["file"] == "uner/test") & (table["decoder"] == "Viterbi")].iloc[0]
    assert viterbi["token accuracy, %"] == pytest.approx(85.0)
    assert viterbi["sentence accuracy, %"] == pytest.approx(42.5)
    assert viterbi["entity F1, %"] == pytest.approx(60.0)
    assert viterbi["ECE, %"] == pytest.approx(1.25)
    assert pd.api.types.is_integer_dtype(table["break BIO"])


def test_count_of_invalid_sentences_names_the_tag_schemes():
    models = {"upos": {"ewt/test": TAGS}, "other": {"test": {**SPANS, "tag_scheme": "BILOU"}}}
    assert "break BILOU" in evaluation_table(evaluation_frame(models))
    assert "break BIO or BILOU" in evaluation_table(evaluation_frame({**EVALUATIONS, **models}))


def test_columns_without_a_number_are_left_out():
    table = evaluation_table(evaluation_frame({"upos": {"ewt/test": TAGS}}))
    assert "entity F1, %" not in table
    assert "break BIO" not in table
    assert "token accuracy, %" in table


FRAME = evaluation_frame(
    {
        name: {"test": record(**dict.fromkeys(DECODERS, decoder(value)))}
        for name, value in (("b", 0.9), ("a", 0.8))
    }
)


def drawn(chart):
    """The rows that the chart holds."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_each_decoder_is_drawn_in_per_cent_with_its_interval():
    charts = decoder_charts(FRAME, "token_accuracy")
    rows = [row for chart in charts.values() for row in drawn(chart)]
    assert len(rows) == 2 * len(TITLES)
    first = drawn(charts["b · test"])[0]
    assert first["panel"] == "b · test"
    assert first["share"] == pytest.approx(90.0)
    assert first["low"] == pytest.approx(89.0)
    assert first["high"] == pytest.approx(91.0)


def test_panels_and_decoders_keep_their_order():
    charts = decoder_charts(FRAME, "token_accuracy")
    assert list(charts) == ["b · test", "a · test"]
    for chart in charts.values():
        for layer in chart.to_dict()["layer"]:
            assert layer["encoding"]["y"]["scale"]["domain"] == list(TITLES.values())


def test_panels_share_one_axis_range():
    for chart in decoder_charts(FRAME, "token_accuracy").values():
        x = chart.to_dict()["layer"][0]["encoding"]["x"]
        assert x["scale"]["domain"] == pytest.approx([79.0, 91.0])
        assert x["title"]
        assert x["axis"]["tickCount"]


def test_axis_labels_are_aligned_with_their_rows():
    for chart in decoder_charts(FRAME, "token_accuracy").values():
        assert chart.to_dict()["config"]["axis"]["labelFlush"] is False


def test_chart_fills_the_available_width():
    for chart in decoder_charts(FRAME, "token_accuracy").values():
        assert "width" not in chart.to_dict()


@pytest.mark.parametrize("frame", [FRAME, evaluation_frame({})], ids=["without F1", "empty"])
def test_frame_without_measurements_gives_no_chart(frame):
    assert decoder_charts(frame, "entity_f1") == {}
    assert isinstance(frame, pd.DataFrame)


def test_comparison_has_every_pair_of_training_and_decoding():
    frame = comparison_frame(REPORT)
    ours = frame[frame["data"] != PUBLISHED_DATA]
    ways = {(row["trained"], row["decoded"]) for row in ours.to_dict("records")}
    assert ways == {(a, b) for a in ("greedy", "viterbi") for b in ("greedy", "viterbi")}
    assert not ours.isna().any().any()
    assert set(DIGITS) <= set(frame.columns)


def test_comparison_figures_equal_those_of_the_shipped_models():
    """Trained again by the benchmark, from the same files and seed: the same weights."""
    measured = {(row["trained"], row["decoded"]): row for row in REPORT["rows"]}
    for name, trained in (
        ("upos-en-perceptron", "viterbi"),
        ("upos-en-perceptron-greedy", "greedy"),
    ):
        record = json.loads((SHIPPED / name / "evaluation.json").read_text())
        figures = record["ud-english-ewt/test.conllu"]
        for decoder, decoded in (("left_to_right", "greedy"), ("viterbi", "viterbi")):
            row = measured[trained, decoded]
            assert row["tokens"] == pytest.approx(figures[decoder]["token_accuracy"], abs=1e-4)
            assert row["sentences"] == pytest.approx(
                figures[decoder]["sentence_accuracy"], abs=1e-3
            )


def test_comparison_includes_published_figures():
    frame = comparison_frame(REPORT)
    published = frame[frame["data"] == PUBLISHED_DATA]
    assert published["token accuracy, %"].tolist() == [97.57, 97.67]
    assert published["sentence accuracy, %"].tolist() == [93.18, 94.08]
    assert published["times"].tolist() == [1, 12]
