"""Two words' tags together: the table behind the heatmap, and the heatmap itself."""

import json
import math

import pytest
import torch
from hypothesis import assume, given, settings

from crfviz.chain.distribution import pair_marginals
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.views.frames.chains import MAX_NUMBERED, pair_frame, pair_heatmap
from tests.support import oracle
from tests.support.strategies import chains

INF = math.inf
TAGS = ["DET", "NOUN", "VERB"]
PAIRS = torch.tensor([[0.6, 0.3, 0.0], [0.0, 0.0999, 0.0], [0.0001, 0.0, 0.0]], dtype=torch.float64)


def data_of(chart):
    """The rows that a chart draws."""
    spec = chart.to_dict()
    (rows,) = spec["datasets"].values()
    return rows


def domain(chart, axis):
    return chart.to_dict()["layer"][0]["encoding"][axis]["scale"]["domain"]


@given(chains(min_tokens=2, max_tokens=4, max_tags=3))
def test_pair_frame_equals_enumeration(potentials):
    assume(oracle.allowed(potentials))
    tags = TAGS[: potentials.num_tags]
    frame = pair_frame(pair_marginals(forward_backward(potentials), 0, 1), tags)
    assert list(frame.columns) == ["first", "second", "probability"]
    assert len(frame) == len(tags) ** 2
    assert frame["probability"].sum() == pytest.approx(1.0, abs=1e-9)
    assert frame["probability"].is_monotonic_decreasing
    edges = oracle.edge_marginals(potentials)
    for first, second, value in frame.itertuples(index=False):
        move = (tags.index(first), tags.index(second))
        assert value == pytest.approx(edges[0, move], abs=1e-9)


def test_equal_pairs_stay_in_tag_order():
    frame = pair_frame(torch.full((3, 3), 1 / 9), TAGS)
    pairs = list(zip(frame["first"], frame["second"], strict=True))
    assert pairs == [(first, second) for first in TAGS for second in TAGS]


def test_heatmap_draws_only_tags_with_probability():
    chart = pair_heatmap(pair_frame(PAIRS, TAGS), TAGS)
    assert domain(chart, "y") == ["DET", "NOUN"]
    assert domain(chart, "x") == ["DET", "NOUN"]
    drawn = {(row["first"], row["second"]): row["probability"] for row in data_of(chart)}
    assert drawn == {
        ("DET", "DET"): 0.6,
        ("DET", "NOUN"): 0.3,
        ("NOUN", "DET"): 0.0,
        ("NOUN", "NOUN"): 0.0999,
    }
    assert json.dumps(chart.to_dict(), allow_nan=False)


def test_least_sets_the_threshold_for_drawn_tags():
    chart = pair_heatmap(pair_frame(PAIRS, TAGS), TAGS, least=0.0001)
    assert domain(chart, "y") == TAGS
    assert len(data_of(chart)) == 6


def test_axes_follow_the_tag_order_not_the_probabilities():
    pairs = torch.tensor([[0.0, 0.1], [0.6, 0.3]])
    chart = pair_heatmap(pair_frame(pairs, ["B", "A"]), ["B", "A"])
    assert domain(chart, "y") == domain(chart, "x") == ["B", "A"]


@pytest.mark.parametrize(
    "frame",
    [
        pair_frame(torch.zeros(3, 3), TAGS),
        pair_frame(torch.zeros(0, 0), []),
    ],
    ids=["no path", "no tags"],
)
def test_empty_frame_gives_an_empty_valid_chart(frame):
    chart = pair_heatmap(frame, TAGS)
    assert data_of(chart) == []
    assert domain(chart, "x") == domain(chart, "y") == []


@settings(max_examples=8)  # Altair takes its time
@given(chains(min_tokens=2, max_tokens=3, max_tags=3))
def test_every_chain_has_a_valid_chart(potentials):
    tags = TAGS[: potentials.num_tags]
    last = potentials.num_tokens - 1
    pairs = pair_marginals(forward_backward(potentials), 0, last)
    spec = pair_heatmap(pair_frame(pairs, tags), tags).to_dict()
    assert json.dumps(spec, allow_nan=False)


@pytest.mark.parametrize(("num_tags", "every"), [(MAX_NUMBERED, True), (20, False)])
def test_zeros_are_omitted_in_heatmaps_with_many_columns(num_tags, every):
    tags = [f"T{k}" for k in range(num_tags)]
    pairs = torch.full((num_tags, num_tags), 1 / num_tags**2)
    numbers = pair_heatmap(pair_frame(pairs, tags), tags).to_dict()["layer"][1]
    assert ("transform" not in numbers) == every


def test_tag_names_are_not_parsed_as_vega_fields():
    tags = ["a.b[c]", "<i>", 'it\'s: "q"']
    pairs = pair_marginals(forward_backward(Potentials(torch.zeros(2, 3), torch.zeros(3, 3))), 0, 1)
    chart = pair_heatmap(pair_frame(pairs, tags), tags)
    assert {row["first"] for row in data_of(chart)} == set(tags)


def test_edited_pairs_have_trained_values_and_signs_of_change():
    before = torch.tensor([[0.5, 0.3, 0.0], [0.1, 0.0999, 0.0], [0.0001, 0.0, 0.0]])
    frame = pair_frame(PAIRS, TAGS, before.double())
    found = {(row.first, row.second): (row.trained, row.change) for row in frame.itertuples()}
    assert found["DET", "DET"] == (pytest.approx(0.5), "▲")
    assert found["NOUN", "DET"] == (pytest.approx(0.1), "▼")
    assert found["DET", "NOUN"] == (pytest.approx(0.3), "")
    spec = pair_heatmap(frame, TAGS).to_dict()
    assert spec["layer"][-1]["encoding"]["text"]["field"] == "change"
    assert len(spec["layer"]) == 3


def test_long_tag_names_are_cut_at_the_front():
    encoding = pair_heatmap(pair_frame(PAIRS, TAGS), TAGS).to_dict()["layer"][0]["encoding"]
    for side in "xy":
        assert "slice(datum.label, -8)" in encoding[side]["axis"]["labelExpr"]
