"""A page alone is redrawn only where the browser still is."""

from types import SimpleNamespace

import pytest
import streamlit as st

from crfviz.ui.session.page_state import set_path
from crfviz.ui.shell.frame import is_open
from crfviz.views.contents import at_path

pytestmark = pytest.mark.usefixtures("asked_again")


@pytest.mark.parametrize(
    ("address", "drawn", "expected"),
    [
        ("http://localhost:8501/viterbi", "viterbi", True),
        ("http://localhost:8501/crf/viterbi/", "viterbi", True),
        ("http://localhost:8501", "", True),
        ("http://localhost:8501/crf/", "", True),
        ("http://localhost:8501/marginals", "viterbi", False),
        ("http://localhost:8501/", "viterbi", False),
        ("http://localhost:8501/viterbi", "marginals", False),
    ],
)
def test_page_is_open_if_url_and_session_match(monkeypatch, address, drawn, expected):
    monkeypatch.setattr(st, "context", SimpleNamespace(url=address))
    set_path(drawn)
    assert is_open(at_path(drawn)) is expected


def test_page_left_by_the_session_is_not_open(monkeypatch):
    monkeypatch.setattr(st, "context", SimpleNamespace(url="http://localhost:8501/viterbi"))
    set_path("marginals")
    assert not is_open(at_path("viterbi"))
