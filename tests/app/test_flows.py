"""The two flows of docs/structure.md are the functions that the app calls."""

import json
import threading
from pathlib import Path

from streamlit.components.v2.bidi_component import main as bidi
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from tests.support.app_pages import new_app, open_at
from tests.support.paths import ROOT
from tests.unit.test_design import FLOWS

SENTENCE, EDIT = ([(file, name) for _, file, name, _ in listed] for *_, listed in FLOWS)
CACHE = ("crfviz/ui/shared_cache.py", "SharedCache.__call__")  # the decorator of `edited`
OURS = (str(ROOT / "crfviz"), str(ROOT / "app.py"), "pages/")


def ours(frame):
    """Return file and function of a frame of ours, without the functions inside; else None."""
    file, name = frame.f_code.co_filename, frame.f_code.co_qualname.partition(".<locals>")[0]
    if not file.startswith(OURS):
        return None
    place = str(Path(file).relative_to(ROOT)) if Path(file).is_absolute() else file
    return place, "" if name == "<module>" else name


def traced(run, stops):
    """Run the app; return the stack of ours at the first call of each stop, outermost first."""
    stacks = {}

    def note(frame, event, _argument):
        top = ours(frame) if event == "call" else None
        if top not in stops or top in stacks:
            return
        stack = []
        while frame is not None:
            stack.append(ours(frame))
            frame = frame.f_back
        stacks[top] = [each for each in reversed(stack) if each is not None]

    threading.setprofile(note)
    try:
        run()
    finally:
        threading.setprofile(None)
    return stacks


def assert_flow(stacks, stops, also=()):
    """Assert that all stops in Python were called in their order, and nothing else on the way."""
    python = list(dict.fromkeys(stop for stop in stops if stop[0].endswith(".py")))
    assert list(stacks) == python
    on_the_way = {call for stack in stacks.values() for call in stack}
    assert on_the_way - {*python, *also, CACHE} == set()


def test_typed_sentence_passes_the_listed_functions():
    app = new_app()
    open_at(app, "pages/viterbi.py")
    app.text_input(key="sentence").input("Time flies")
    stacks = traced(app.run, SENTENCE)
    assert not app.exception
    assert_flow(stacks, SENTENCE)


def test_dragged_transition_passes_the_listed_functions():
    app = new_app()
    open_at(app, "pages/transitions.py")
    (stage,) = [each.proto for each in app.main if each.type == "bidi_component"]
    sent = json.loads(stage.json)
    event = {"kind": "transition", "from": "DET", "to": "NOUN", "score": 2.0, "seq": 1}
    event |= {"sentence": sent.get("sentence"), "has": sent["whole"]}
    states = WidgetStates()
    trigger = states.widgets.add()
    trigger.id = bidi._make_trigger_id(stage.id, "events")
    trigger.json_trigger_value = json.dumps([{"event": "events", "value": [event]}])
    stacks = traced(lambda: app._run(states), EDIT)
    (stage,) = [json.loads(each.proto.json) for each in app.main if each.type == "bidi_component"]
    assert stage["edits"]["transitions"] == [["DET", "NOUN", 2.0]]
    assert_flow(stacks, EDIT, also=SENTENCE)  # here the whole script runs, not a fragment
