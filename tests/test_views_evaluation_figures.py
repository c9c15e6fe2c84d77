"""The picture of how far apart the decoders are."""

import pandas as pd
import pytest

from crfviz.corpus.tables.decoders import TITLES
from crfviz.views.figures.models import MEASURES, decoder_chart, evaluation_frame


def evaluation(value):
    scores = {"invalid_bio": None}
    for measure in MEASURES:
        shown = None if measure == "entity_f1" else value
        scores[measure] = shown
        scores[f"{measure}_interval"] = None if shown is None else [value - 0.02, value + 0.02]
    decoders = dict.fromkeys(["independent", "left_to_right", "viterbi", "max_marginal"], scores)
    return {"sentences": 7, "tokens": 50, "ece": 0.01, **decoders}


FRAME = evaluation_frame({"b": {"test": evaluation(0.9)}, "a": {"test": evaluation(0.8)}})


def drawn(chart):
    """The rows that the chart holds."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_each_decoder_is_drawn_in_per_cent_with_its_interval():
    rows = drawn(decoder_chart(FRAME, "token_accuracy"))
    assert len(rows) == 2 * len(TITLES)
    first = next(row for row in rows if row["panel"] == "b · test")
    assert first["share"] == pytest.approx(90.0)
    assert first["low"] == pytest.approx(88.0)
    assert first["high"] == pytest.approx(92.0)


def test_panels_and_decoders_keep_their_order():
    spec = decoder_chart(FRAME, "token_accuracy").to_dict()
    assert spec["facet"]["sort"] == ["b · test", "a · test"]
    for layer in spec["spec"]["layer"]:
        assert layer["encoding"]["y"]["scale"]["domain"] == list(TITLES.values())


def test_all_panels_share_one_axis_that_each_draws():
    resolved = decoder_chart(FRAME, "token_accuracy").to_dict()["resolve"]
    assert resolved == {"scale": {"x": "shared"}, "axis": {"x": "independent"}}


@pytest.mark.parametrize("frame", [FRAME, evaluation_frame({})], ids=["without F1", "empty"])
def test_nothing_measured_gives_an_empty_valid_chart(frame):
    chart = decoder_chart(frame, "entity_f1")
    assert drawn(chart) == []
    assert isinstance(frame, pd.DataFrame)
