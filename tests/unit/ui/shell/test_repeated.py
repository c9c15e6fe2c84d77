"""What Streamlit is spared says the same as what Streamlit says."""

import numpy as np
import pandas as pd
import pytest
from streamlit import delta_generator
from streamlit.components.v2.bidi_component import serialization
from streamlit.elements.widgets import button
from streamlit.proto.NewSession_pb2 import Config, CustomThemeConfig
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.caching import cache_utils

from crfviz.ui.shell import repeated


@pytest.fixture(autouse=True)
def streamlit_s_own(monkeypatch):
    for module, name in [
        (app_session, repeated._THEME),
        (button, repeated._QUERY),
        (cache_utils, repeated._ARGUMENT),
        (serialization, repeated._IS_TABLE),
        (app_session, repeated._SETTINGS),
    ]:
        own = getattr(module, name)
        monkeypatch.setattr(module, name, getattr(own, "__wrapped__", own))


def themes():
    told = []
    for section in ("theme", "theme.light", "theme.dark", "theme.sidebar"):
        message = CustomThemeConfig()
        app_session._populate_theme_msg(message, section)
        told.append(message)
    return told


def test_the_theme_is_the_same(monkeypatch):
    asked = []
    own = app_session.config.get_options_for_section
    monkeypatch.setattr(
        app_session.config,
        "get_options_for_section",
        lambda section: asked.append(section) or own(section),
    )
    before = themes()
    assert repeated.remember_repeated()
    assert themes() == before
    assert any(theme.ByteSize() for theme in before)
    asked.clear()
    assert themes() == before
    assert asked == []


@pytest.mark.parametrize(
    "params", [{"sentence": "a b, ü?"}, {}, {"a": ["1", "2"]}, [("a", "1")], {"n": 3}]
)
def test_a_link_is_the_same(params):
    before = button.process_query_params(params)
    assert repeated.remember_repeated()
    assert button.process_query_params(params) == before
    assert button.process_query_params(params) == before


def test_an_argument_has_the_same_name(monkeypatch):
    def function(first, _second, *others, named=0):
        return first, others, named

    places = range(-1, 5)
    before = [cache_utils._get_positional_arg_name(function, place) for place in places]
    assert before == [None, "first", "_second", None, None, None]
    assert repeated.remember_repeated()
    own = cache_utils.type_util.get_func_parameters
    asked = []
    monkeypatch.setattr(
        cache_utils.type_util, "get_func_parameters", lambda of: asked.append(of) or own(of)
    )
    for _ in range(2):
        told = [cache_utils._get_positional_arg_name(function, place) for place in places]
        assert told == before
    assert len(asked) == len(places) - 1  # once each, and not where no place is


@pytest.mark.parametrize(
    ("value", "table"),
    [
        ({}, False),
        ({"a": [1.0], "b": None, "c": {"d": ()}, "e": True}, False),
        ({"a": pd.Series([1])}, True),
        (pd.DataFrame({"a": [1]}), True),
        (np.zeros((2, 2)), True),
        ([1, 2], False),
        ("text", False),
        (None, False),
    ],
)
def test_what_is_a_table_stays_one(value, table):
    assert serialization.is_dataframe_like(value) is table
    assert repeated.remember_repeated()
    assert serialization.is_dataframe_like(value) is table


def test_the_settings_are_the_same():
    def settings():
        message = Config()
        app_session._populate_config_msg(message)
        return message

    before = settings()
    assert repeated.remember_repeated()
    assert settings() == settings() == before
    assert before.ByteSize()


def test_it_is_done_once(monkeypatch):
    assert repeated.remember_repeated()
    assert repeated.remember_repeated()
    own = button.process_query_params.__wrapped__
    assert not hasattr(own, "__wrapped__")
    monkeypatch.delattr(button, "process_query_params")
    assert not repeated.remember_repeated()
    monkeypatch.setattr(button, "process_query_params", own, raising=False)


def test_a_server_does_not_look_how_it_was_started(monkeypatch):
    looked = []
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    monkeypatch.setattr(delta_generator.env_util, "is_repl", lambda: looked.append(1))
    monkeypatch.setattr(Runtime, "exists", lambda: False)
    assert not repeated.tell_how_it_was_started()  # Streamlit would say something
    monkeypatch.setattr(Runtime, "exists", lambda: True)
    assert repeated.tell_how_it_was_started()
    assert looked == []
    delta_generator._maybe_print_use_warning()  # as each element does
    assert looked == []
    monkeypatch.setattr(delta_generator, "_use_warning_has_been_displayed", False)
    delta_generator._maybe_print_use_warning()  # as it does where nobody told it
    assert looked == [1]
    monkeypatch.delattr(delta_generator, "_use_warning_has_been_displayed")
    assert not repeated.tell_how_it_was_started()
