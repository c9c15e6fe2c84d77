"""Links written before the modules were laid out in rooms open the same scenarios today."""

import json
from urllib.parse import parse_qsl, urlencode

import pytest

from crfviz.chain.edits import Edits
from crfviz.ui.state.link import decode, encode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.scenario import Scenario
from crfviz.ui.state.snapshots import Snapshot, linked_snapshots, with_snapshots, without_snapshots
from tests.support.paths import ROOT

OLD = json.loads((ROOT / "tests" / "fixtures" / "links.json").read_text(encoding="utf-8"))
FIRST = OLD["first_sentences"]
MODELS = Models(list(FIRST), OLD["default_model"], FIRST.__getitem__)
LINKS = pytest.mark.parametrize("old", OLD["links"], ids=[old["name"] for old in OLD["links"]])


def scenario_of(told):
    edits = told.get("edits", {})
    return Scenario(
        told["model"],
        told["sentence"],
        Edits(
            {(a, b): float(score) for a, b, score in edits.get("transitions", [])},
            {(t, tag): float(score) for t, tag, score in edits.get("emissions", [])},
            edits.get("strength", 1.0),
            edits.get("constrained", True),
        ),
        pins=dict(told.get("pins", [])),
        right=dict(told.get("right", [])),
        view=told.get("view", {}),
        step=told.get("step", 0),
    )


def snapshots_of(old):
    return [Snapshot(each["name"], scenario_of(each["scenario"])) for each in old["snapshots"]]


@LINKS
def test_old_link_opens_the_same_scenario(old):
    params = dict(parse_qsl(old["link"], keep_blank_values=True, strict_parsing=True))
    decoded = decode(without_snapshots(params), MODELS)
    assert decoded.scenario == scenario_of(old["scenario"])
    assert decoded.ignored == []
    assert linked_snapshots(params, MODELS) == snapshots_of(old)


@LINKS
def test_scenario_is_encoded_as_the_old_link(old):
    scenario = scenario_of(old["scenario"])
    link = with_snapshots(encode(scenario, MODELS), snapshots_of(old))
    assert link.complete
    assert urlencode(link.params) == old["link"]
