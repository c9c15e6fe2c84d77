"""Live components as Streamlit elements: what is mounted, and which events are handed on."""

import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager

from crfviz.ui import streamlit_compat
from crfviz.ui.session.components import NAMES, fresh_events, mount, sent_events


class Browser:
    """Stands where Streamlit's component stands, and remembers what it was given."""

    def __init__(self):
        self.manager = BidiComponentManager()
        self.components = []
        self.mounted = None
        self.state = {}  # Streamlit's session

    def component(self, name, **files):
        self.components.append((name, files))
        return self.mount

    def mount(self, **given):
        self.mounted = given

    def sends(self, events):
        self.state[self.mounted["key"]] = events
        self.mounted["on_events_change"]()


@pytest.fixture
def browser(monkeypatch, asked_again):
    fake = Browser()
    fake.state = asked_again
    monkeypatch.setattr(streamlit_compat, "get_bidi_component_manager", lambda: fake.manager)
    monkeypatch.setattr(st.components.v2, "component", fake.component)
    return fake


@pytest.mark.parametrize("name", NAMES)
def test_component_files_are_found_without_installing(browser, name):
    assert browser.manager.get_component_asset_root(f"crfviz.{name}") is None
    mount(name, {}, key="stage.x", on_events=print)
    folder = Path(browser.manager.get_component_asset_root(f"crfviz.{name}"))
    (_, files), *_ = browser.components
    assert files == {"js": f"{name}.js", "css": f"{name}.css"}
    assert all((folder / name).is_file() for name in files.values())


def test_components_are_registered_once(browser, monkeypatch):
    registered = []
    register = browser.manager.register_from_manifest
    monkeypatch.setattr(
        browser.manager,
        "register_from_manifest",
        lambda *given: (registered.append(given), register(*given)),
    )
    for name in (*NAMES, *NAMES):
        mount(name, {}, key="stage.x", on_events=print)
    assert len(registered) == 1
    assert [name for name, _ in browser.components] == [f"crfviz.{name}" for name in NAMES]


def test_data_is_mounted_under_its_key(browser):
    data = {"words": ["a"], "panels": {"main": ["strips"]}}
    mount("stage", data, key="stage.x", on_events=print)
    assert browser.mounted["key"] == "stage.x"
    assert json.loads(json.dumps(browser.mounted["data"])) == data


def test_callback_receives_the_events_in_order(browser):
    heard = []
    mount("stage", {}, key="stage.x", on_events=lambda: heard.extend(sent_events("stage.x")))
    events = [{"seq": 1, "kind": "transition"}, {"seq": 2, "kind": "reset"}]
    browser.sends({"events": events})
    assert heard == events


@pytest.mark.parametrize("state", [None, "nonsense", {}, {"events": None}], ids=str)
def test_state_without_events_gives_none(browser, state):
    heard = []
    mount("stage", {}, key="stage.x", on_events=lambda: heard.append(sent_events("stage.x")))
    browser.sends(state)
    assert heard == [None]
    assert list(fresh_events("stage.x", heard[0])) == []
