"""The tour: each stop waits for what it asks, however it is done, and the link keeps the stop."""

from dataclasses import replace

import pytest

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.ui.state.link import decode, encode
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.link_text import MAX_STOPS
from crfviz.ui.state.scenario import BEFORE_FIRST, Scenario
from crfviz.ui.tour import END, STOPS, Screen, target
from crfviz.views.contents import ENTRIES

MODELS = Models(("tiny",), "tiny", lambda _: "one two")
POTENTIALS = Potentials(
    [[1.0, 0.0], [0.0, 0.2]], [[1.0, 0.0], [0.0, 0.0]], tags=["A", "B"], tokens=["one", "two"]
)
TRAINED = analyse(POTENTIALS)
STATE = Scenario("tiny", "one two")


def screen(path="", state=STATE, **changes):
    state = replace(state, **changes)
    now = analyse(state.edits.apply(POTENTIALS)) if state.edits else TRAINED
    return Screen(path, state, TRAINED, now)


EDITED = Edits(emissions={(1, "A"): 1.0})
FLIPPED = Edits(transitions={("A", "A"): -5.0})
BACK = "forward-backward"


@pytest.mark.parametrize(
    ("number", "before", "waits", "done"),
    [
        (1, screen(), screen(step=3), screen(sentence="mine")),
        (2, screen(), screen(edits=Edits(emissions={(0, "A"): 9.0})), screen(edits=EDITED)),
        (3, screen(), screen(edits=EDITED), screen(edits=FLIPPED)),
        (4, screen(edits=EDITED), screen(edits=FLIPPED), screen()),
        (5, screen("viterbi"), screen("viterbi", step=3), screen("viterbi", step=4)),
        (5, screen("viterbi", step=BEFORE_FIRST), screen("viterbi", step=3), screen("viterbi")),
        (6, screen(BACK), screen(BACK), screen(BACK, step=3)),
        (6, screen(BACK, step=BEFORE_FIRST), screen(BACK, step=2), screen(BACK)),
        (7, screen(pins={0: "A"}), screen(pins={0: "A"}), screen(pins={0: "B"})),
        (8, screen(), screen(view={"said": "?"}), screen(view={"said": "A"})),
    ],
)
def test_tour_stop_is_done_after_its_task(number, before, waits, done):
    stop = STOPS[number - 1]
    assert not stop.done(before, waits)
    assert stop.done(before, done)


def test_target_is_the_rival_with_the_smallest_gap():
    assert target(TRAINED) == (1, 0)
    lone = analyse(Potentials([[1.0]], [[0.0]]))
    assert target(lone) == (0, 0)


def test_every_stop_has_a_page_and_short_texts():
    paths = {entry.path for entry in ENTRIES}
    assert len(STOPS) == 8
    assert END == len(STOPS) + 1 == MAX_STOPS
    for stop in STOPS:
        assert stop.path in paths
        assert len(stop.task) <= 100
        assert len(stop.learnt) <= 100


def test_link_contains_the_tour_stop():
    at = Scenario("tiny", "one two", view={"tour": "3"})
    link = encode(at, MODELS)
    assert link.params == {"tour": "3"}
    assert decode(link.params, MODELS).scenario == at
    assert link.elsewhere.params == {"tour": "3"}


@pytest.mark.parametrize("text", ["0", "10", "x", "3.5", "9" * 5000, "²"])
def test_invalid_tour_stop_is_reported_and_the_tour_starts(text):
    read = decode({"tour": text}, MODELS)
    assert read.scenario.view == {"tour": "1"}
    (message,) = read.ignored
    assert "expected a number from 1 to 9" in message
    assert len(message) < 200
