"""Which fragments an event of a stage redraws: the page's alone, or the sidebar's edits as well."""

from contextlib import suppress

import pytest
import streamlit as st

from crfviz.chain.edits import Edits
from crfviz.ui import fragments
from crfviz.ui.fragments import EDITS, PAGE, drawn_edits, note_frame, redraw
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.scenario_state import change, reset, set_view_option, undo
from crfviz.ui.session.session_store import notify

pytestmark = pytest.mark.usefixtures("asked_again")

EDITED = Edits({("DET", "NOUN"): 1.0})
AGAIN = Edits({("DET", "NOUN"): 2.0})


@pytest.fixture
def reruns(monkeypatch):
    """What callbacks ask for, in runs of fragments; "app" is everything."""
    asked = []

    def rerun(scope="app"):
        asked.append(scope)
        raise Ended

    monkeypatch.setattr(fragments, "is_fragment_run", lambda: True)
    monkeypatch.setattr(st, "rerun", rerun)
    return asked


class Ended(BaseException):
    """How Streamlit ends a callback that asks for a rerun."""


def draw_frame():
    note_frame()
    drawn_edits()


def end_callback(**options):
    with suppress(Ended):
        redraw(**options)


def test_step_redraws_only_the_page(reruns):
    draw_frame()
    change(step=3)
    end_callback()
    assert reruns == []


@pytest.mark.parametrize(
    "edit",
    [
        lambda: change(edits=Edits()),
        lambda: change(edits=EDITED.with_emission(0, "X", 1.0)),
        lambda: change(edits=Edits({("DET", "NOUN"): 1.0}, strength=0.5)),
        undo,
        reset,
    ],
)
def test_first_edit_redraws_the_sidebar_once(reruns, edit):
    change(edits=EDITED)
    draw_frame()
    edit()
    end_callback()
    drawn_edits()
    end_callback()
    assert reruns == [[EDITS, PAGE]]


def test_sidebar_not_drawn_yet_is_redrawn_again(reruns):
    draw_frame()
    change(edits=EDITED)
    end_callback()  # a second event ends this run before the sidebar is drawn
    change(edits=AGAIN)
    end_callback()
    assert reruns == [[EDITS, PAGE], [EDITS, PAGE]]


def test_second_edit_of_a_score_redraws_only_the_page(reruns):
    change(edits=EDITED)
    draw_frame()
    change(edits=AGAIN)
    end_callback()
    assert reruns == []


def test_full_rerun_redraws_no_fragments(reruns, monkeypatch):
    monkeypatch.setattr(fragments, "is_fragment_run", lambda: False)
    change(edits=EDITED)
    end_callback()
    assert reruns == []


@pytest.mark.parametrize(
    "act",
    [
        lambda: change(sentence="Dogs bark ."),
        lambda: set_view_option("twin", "1"),
        lambda: request_page("next"),
        lambda: notify("Not so."),
    ],
)
def test_change_outside_the_page_reruns_the_app(reruns, act):
    draw_frame()
    act()
    end_callback(edits=True)
    assert reruns == ["app"]


def test_page_option_redraws_only_the_page(reruns):
    draw_frame()
    set_view_option("panel", "beta")
    end_callback()
    assert reruns == []


def test_sidebar_button_also_redraws_the_page(reruns):
    change(edits=EDITED)
    draw_frame()
    end_callback(edits=True)
    assert reruns == [[EDITS, PAGE]]
