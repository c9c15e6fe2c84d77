"""The declared payload: its TypeScript is up to date, and data that differ from it are found."""

import json

import pytest

from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.views.stage.payload import payload
from crfviz.views.stage.payload_types import Payload
from crfviz.views.stage.picture import Bars, Cell, Gap, Gradient, Mark, Matrix, Piece, Ruler
from tests.support.payload_types import FILE, declaration, faults
from tests.unit.views.stage.test_payload import CHAIN, NOTHING, stage_of

SIDES = {
    "none": None,
    "cell": Cell(message=True),
    "bars": Bars(),
    "terms": Gap("why", [1.0, 2.0], [0.0, 1.0, 2.0], trained=([1.0, 2.0], [0.0, 1.0, 2.0])),
    "matrix": Matrix(
        ruler=Ruler(("A", "B"), 0.5, False, [Piece(float("-inf"), float("inf"), "A B")]),
        marks=[Mark(1.0, "A")],
    ),
    "gradient": Gradient(gradient_step(CHAIN, [0, 1], 0.1)),
}


def test_typescript_equals_the_python_declaration():
    assert FILE.read_text("utf-8") == declaration(), "run `make types`"


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
@pytest.mark.parametrize("chain", [CHAIN, NOTHING], ids=["paths", "no path"])
def test_payloads_match_their_declaration(side, chain):
    data = payload(*stage_of(chain, side=side))
    assert faults(data, Payload) == []
    assert faults(json.loads(json.dumps(data)), Payload) == []


def test_faults_names_every_difference_from_the_declaration():
    data = payload(*stage_of(CHAIN)) | {"more": 1, "ack": "0", "asked": (1,), "walk": None}
    del data["words"]
    data["panels"] = data["panels"] | {"side": "left"}
    named = {fault.partition(":")[0] for fault in faults(data, Payload)}
    assert named == {
        "payload",
        "payload.ack",
        "payload.asked",
        "payload.walk",
        "payload.panels.side",
    }
