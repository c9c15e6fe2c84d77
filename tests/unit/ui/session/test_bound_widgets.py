"""Widgets bound to the session: what is chosen is kept, whatever else is asked for meanwhile."""

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from crfviz.ui.session.bound_widgets import bound_draft, bound_to
from crfviz.ui.session.session_store import (
    count_visit,
    discard_messages,
    draft,
    may_be_unsent,
    messages,
    notify,
)


class Widget:
    """Stands where a widget of Streamlit stands."""

    def __call__(self, label, *, key, on_change):
        self.label, self.key, self.on_change = label, key, on_change


@pytest.fixture
def widget(asked_again):
    drawn = Widget()
    asked_again.asked = False
    assert bound_draft(drawn, "Word", "word", "dog") == "dog"
    assert st.session_state[drawn.key] == "dog"
    asked_again.asked = True
    return drawn


def test_chosen_value_is_kept_during_another_rerun(widget, asked_again):
    asked_again[widget.key] = "cat"
    widget.on_change()
    assert draft("word") == "cat"


def test_reading_session_state_during_a_rerun_stops_the_script(widget):
    with pytest.raises(StopException):
        st.session_state[widget.key]


@pytest.mark.usefixtures("asked_again")
def test_messages_stay_until_discarded():
    notify("one")
    said = messages()
    notify("two")
    assert messages() == ("one", "two")
    discard_messages(said)
    assert messages() == ("two",)


def test_value_that_a_change_of_page_has_dropped_is_no_choice(asked_again):
    drawn, stored = Widget(), []
    asked_again.asked = False
    bound_to(drawn, "Word", "word", "dog", stored.append)
    del asked_again[drawn.key]
    drawn.on_change()
    assert stored == []


def test_widget_of_the_page_before_may_be_gone_from_the_browser(asked_again, monkeypatch):
    asked_again.asked = False
    monkeypatch.setattr("crfviz.ui.session.session_store.browser_says", lambda _: True)
    asked_again["word"] = "dog"
    assert not may_be_unsent("word")
    count_visit()
    assert may_be_unsent("word")
    assert not may_be_unsent("word")  # in the next run, whose request has its value
