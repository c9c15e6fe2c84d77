"""Who labels: the name of the sidebar, or the account where there is a login."""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from crfviz.ui.shell import sidebar as module
from crfviz.ui.shell.sidebar import NOBODY, annotator, login_configured


class NoSecrets:
    def __contains__(self, name):
        raise StreamlitSecretNotFoundError("no file")


class User(dict):
    is_logged_in = True


@pytest.fixture
def named(monkeypatch):
    view = {}
    monkeypatch.setattr(module, "view_option", lambda name: view.get(name, ""))
    return view


@pytest.mark.parametrize("secrets", [NoSecrets(), {}, {"other": 1}], ids=["none", "empty", "other"])
def test_without_a_login_the_name_is_typed(named, monkeypatch, secrets):
    monkeypatch.setattr(st, "secrets", secrets)
    assert not login_configured()
    assert annotator() == NOBODY
    named["by"] = " anna "
    assert annotator() == "anna"


def test_with_a_login_nobody_labels_under_a_typed_name(named, monkeypatch):
    named["by"] = "anna"
    monkeypatch.setattr(st, "secrets", {"auth": {"client_id": "x"}})
    monkeypatch.setattr(st, "user", SimpleNamespace(is_logged_in=False))
    assert annotator() is None


@pytest.mark.parametrize(
    ("account", "name"),
    [
        ({"email": "anna@example.org", "name": "Anna", "sub": "7"}, "anna@example.org"),
        ({"name": "Anna", "sub": "7"}, "Anna"),
        ({"sub": "7"}, "7"),
    ],
)
def test_the_account_is_the_annotator(named, monkeypatch, account, name):  # noqa: ARG001
    monkeypatch.setattr(st, "secrets", {"auth": {"client_id": "x"}})
    monkeypatch.setattr(st, "user", User(account))
    assert annotator() == name
