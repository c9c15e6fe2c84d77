"""The picture of how far apart the decoders are."""

import pandas as pd
import pytest

from crfviz.corpus.tables.decoders import TITLES
from crfviz.views.figures.models import MEASURES, decoder_charts, evaluation_frame


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
    charts = decoder_charts(FRAME, "token_accuracy")
    rows = [row for chart in charts.values() for row in drawn(chart)]
    assert len(rows) == 2 * len(TITLES)
    first = drawn(charts["b · test"])[0]
    assert first["panel"] == "b · test"
    assert first["share"] == pytest.approx(90.0)
    assert first["low"] == pytest.approx(88.0)
    assert first["high"] == pytest.approx(92.0)


def test_panels_and_decoders_keep_their_order():
    charts = decoder_charts(FRAME, "token_accuracy")
    assert list(charts) == ["b · test", "a · test"]
    for chart in charts.values():
        for layer in chart.to_dict()["layer"]:
            assert layer["encoding"]["y"]["scale"]["domain"] == list(TITLES.values())


def test_all_panels_share_one_axis_that_each_draws():
    for chart in decoder_charts(FRAME, "token_accuracy").values():
        x = chart.to_dict()["layer"][0]["encoding"]["x"]
        assert x["scale"]["domain"] == pytest.approx([78.0, 92.0])
        assert x["title"]
        assert x["axis"]["tickCount"]


def test_a_chart_takes_the_room_it_is_given():
    for chart in decoder_charts(FRAME, "token_accuracy").values():
        assert "width" not in chart.to_dict()


@pytest.mark.parametrize("frame", [FRAME, evaluation_frame({})], ids=["without F1", "empty"])
def test_nothing_measured_gives_no_chart(frame):
    assert decoder_charts(frame, "entity_f1") == {}
    assert isinstance(frame, pd.DataFrame)
