"""Who labels: the name of the sidebar, or the account where a login is asked for; else nobody."""

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import Secrets

from crfviz.ui.session import permission
from crfviz.ui.session.permission import (
    NOBODY,
    SAMPLE_SECRET,
    LoginError,
    annotator,
    is_login_required,
    no_annotator_message,
)
from tests.support.app_pages import open_at
from tests.support.paths import ROOT

COMPLETE = """[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "6b1f0c1d5e8a4a0f9c2b7d3e"
client_id = "crfviz"
client_secret = "x"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""


class User(dict):
    """What Streamlit knows of an account: what its provider claims."""

    is_logged_in = True


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where the secrets of the deployment stand; no file yet, and a process that saw none."""
    path = tmp_path / "secrets.toml"
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(path)])
    monkeypatch.setattr(permission, "_login_seen", [])
    monkeypatch.setattr(st, "user", {})
    monkeypatch.setattr(permission, "view_option", lambda _: "mallory")
    reread(monkeypatch)
    yield path
    config.set_option("secrets.files", before)


def reread(monkeypatch):
    """As Streamlit does when the file has changed."""
    monkeypatch.setattr(st, "secrets", Secrets())


def without(name):
    return "\n".join(line for line in COMPLETE.splitlines() if not line.startswith(name))


@pytest.mark.parametrize("text", [None, "", "other = 1"], ids=["none", "empty", "other"])
def test_annotator_name_is_typed_without_a_login(file, monkeypatch, text):
    if text is not None:
        file.write_text(text)
    assert annotator() == "mallory"
    monkeypatch.setattr(permission, "view_option", lambda _: " ")
    assert annotator() == NOBODY


def test_missing_login_is_logged(file, caplog, monkeypatch):
    permission.log_missing_login()
    (line,) = caplog.messages
    assert "labels under any name" in line
    caplog.clear()
    file.write_text(COMPLETE)
    reread(monkeypatch)
    permission.log_missing_login()
    assert not caplog.messages


def test_typed_name_is_ignored_with_a_login(file):
    file.write_text(COMPLETE)
    assert is_login_required()
    assert annotator() is None
    assert "Log in on the left" in no_annotator_message()


def lost_quote(file):
    file.write_text(COMPLETE.replace('client_id = "crfviz"', 'client_id = "crfviz'))


def empty_section(file):
    file.write_text("[auth]\n")


def no_table(file):
    file.write_text('auth = "yes"\n')


def incomplete(file):
    file.write_text(without("client_secret"))


def empty_value(file):
    file.write_text(COMPLETE.replace('"crfviz"', '" "'))


def no_secret(file):
    file.write_text(without("cookie_secret"))


def short_secret(file):
    file.write_text(COMPLETE.replace("6b1f0c1d5e8a4a0f9c2b7d3e", "short"))


def sample_secret(file):
    file.write_text(COMPLETE.replace("6b1f0c1d5e8a4a0f9c2b7d3e", SAMPLE_SECRET))


def a_folder(file):  # which cannot be read as a file, whoever tries
    file.mkdir()


def no_text(file):
    file.write_bytes(b"\xff\xfe[auth]")


def a_link_to_nothing(file):
    file.symlink_to(file.parent / "gone.toml")


BROKEN = [
    lost_quote,
    empty_section,
    no_table,
    incomplete,
    empty_value,
    no_secret,
    short_secret,
    sample_secret,
    a_folder,
    no_text,
    a_link_to_nothing,
]


@pytest.mark.parametrize("breaking", BROKEN)
def test_broken_login_disables_labelling(file, breaking):
    breaking(file)
    with pytest.raises(LoginError):
        is_login_required()
    assert annotator() is None
    assert "Login does not work" in no_annotator_message()


@pytest.mark.parametrize("breaking", [lost_quote, empty_section, incomplete, a_folder])
def test_login_broken_at_run_time_disables_labelling(file, monkeypatch, breaking):
    file.write_text(COMPLETE)
    assert is_login_required()
    file.unlink()
    breaking(file)
    reread(monkeypatch)
    assert annotator() is None


@pytest.mark.parametrize("left", [None, "", "other = 1"], ids=["deleted", "emptied", "other"])
def test_login_removed_at_run_time_disables_labelling(file, monkeypatch, left):
    file.write_text(COMPLETE)
    assert is_login_required()
    file.unlink() if left is None else file.write_text(left)
    reread(monkeypatch)
    assert annotator() is None
    file.write_text(COMPLETE)
    reread(monkeypatch)
    assert is_login_required()


@pytest.mark.usefixtures("file")
def test_login_setting_overrides_missing_secrets(monkeypatch):
    monkeypatch.setenv("CRFVIZ_LOGIN", "required")
    assert annotator() is None


def test_named_provider_completes_the_login(file):
    names = ("client_id", "client_secret", "server_metadata_url")
    lines = COMPLETE.splitlines()
    own = [line for line in lines if line.startswith(names)]
    rest = [line for line in lines if line not in own]
    file.write_text("\n".join([*rest, "[auth.default]", *own]))
    assert is_login_required()


ACCOUNTS = {
    "verified": ({"email": "anna@example.org", "email_verified": True}, "anna@example.org"),
    "not verified": ({"email": "anna@example.org", "email_verified": False}, None),
    "not said": ({"email": "anna@example.org", "name": "Anna", "sub": "7"}, None),
    "said in words": ({"email": "anna@example.org", "email_verified": "false"}, None),
    "a name": ({"name": "Anna", "sub": "7", "email_verified": True}, None),
    "a number": ({"sub": "7"}, None),
    "nothing": ({}, None),
    "blank": ({"email": " ", "email_verified": True}, None),
    "a list": ({"email": ["anna@example.org"], "email_verified": True}, None),
}


@pytest.mark.parametrize(("account", "name"), ACCOUNTS.values(), ids=ACCOUNTS)
def test_verified_email_address_is_the_annotator(file, monkeypatch, account, name):
    file.write_text(COMPLETE)
    monkeypatch.setattr(st, "user", User(account))
    assert annotator() == name
    assert "no e-mail address" in no_annotator_message()


def test_documented_sample_secret_is_rejected():
    text = (ROOT / "docs/deployment.md").read_text("utf-8")
    assert f'cookie_secret = "{SAMPLE_SECRET}"' in text


def test_labelled_sentences_are_hidden_without_a_login(file, app, monkeypatch):
    file.write_text("[auth]\n")
    reread(monkeypatch)
    for page in ("annotate", "model-errors"):
        app.query_params["v.corpus"] = "labelled"
        shown = open_at(app, f"pages/{page}.py").main
        assert not app.exception
        assert any("Login does not work" in info.value for info in shown.info)
        assert not shown.button
