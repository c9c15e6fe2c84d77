"""The comparison of greedy and Viterbi: what was measured, and what was published."""

import json

import pytest

from crfviz.taggers.registry import SHIPPED
from crfviz.ui.panels import cards
from crfviz.views.figures.models import DIGITS, PUBLISHED_DATA, comparison_frame

REPORT = json.loads((SHIPPED / "upos-en-perceptron" / "comparison.json").read_text())


def test_all_four_ways_were_measured():
    frame = comparison_frame(REPORT)
    ours = frame[frame["data"] != PUBLISHED_DATA]
    ways = {(row["trained"], row["decoded"]) for row in ours.to_dict("records")}
    assert ways == {(a, b) for a in ("greedy", "viterbi") for b in ("greedy", "viterbi")}
    assert not ours.isna().any().any()
    assert set(DIGITS) <= set(frame.columns)


def test_the_figures_are_those_of_the_shipped_models():
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


def test_published_figures_stand_beside_ours():
    frame = comparison_frame(REPORT)
    published = frame[frame["data"] == PUBLISHED_DATA]
    assert published["words right, %"].tolist() == [97.57, 97.67]
    assert published["sentences right, %"].tolist() == [93.18, 94.08]
    assert published["times"].tolist() == [1, 12]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"rows": []}', '{"rows": [{}]}'])
def test_a_report_of_no_use_leaves_the_section_out(tmp_path, monkeypatch, content):
    path = tmp_path / cards.COMPARISON_FILE
    path.parent.mkdir()
    path.write_text(content)
    monkeypatch.setattr(cards, "SHIPPED", tmp_path)
    assert cards.comparison() is None
