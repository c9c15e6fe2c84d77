"""What a live component begins with holds all of its modules, and a page names it early."""

import gzip
import re
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.responses import HTMLResponse, PlainTextResponse

from crfviz.ui.shell.first_paint import SCRIPT, FirstPaint
from crfviz.ui.shell.joined import COMPONENTS, Joined, named_early
from crfviz.views.contents import ENTRIES

PLACE = "/_stcore/bidi-components/crfviz.{0}/{0}.js"
PAGE = "<html><head><title>x</title></head><body></body></html>"


class Client:
    """Asks an ASGI application."""

    def __init__(self, app):
        self._app = app

    def get(self, path, method="GET", **headers):
        """The answer; what it was packed with is taken off."""
        sent = []
        told = [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ]
        scope = {"type": "http", "method": method, "path": path, "headers": told}

        async def send(message):
            sent.append(message)

        with pytest.raises(StopIteration):  # nothing in it waits
            self._app(scope, None, send).send(None)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        packed = found.get("content-encoding") == "gzip"
        text = (gzip.decompress(content) if packed else content).decode()
        return SimpleNamespace(
            status_code=sent[0]["status"], headers=found, content=content, text=text
        )


@pytest.fixture
def client():
    return Client(Joined(PlainTextResponse("another")))


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_is_one_script_that_imports_nothing(client, name):
    answer = client.get(PLACE.format(name))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    left = re.findall(r"^(?:import|export)\b.*", answer.text, re.MULTILINE)
    assert [line.split()[:2] for line in left] == [["export", "default"]]


def test_it_is_packed_for_who_can_unpack_it_and_not_sent_twice(client):
    plain = client.get(PLACE.format("stage"), accept_encoding="identity")
    packed = client.get(PLACE.format("stage"), accept_encoding="gzip")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    assert packed.headers["etag"] == plain.headers["etag"]
    again = client.get(PLACE.format("stage"), if_none_match=plain.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/", "/_stcore/bidi-components/crfviz.stage/model.js", PLACE.format("tour")]
)
def test_everything_else_is_answered_by_streamlit(client, path):
    assert client.get(path).text == "another"
    assert client.get(PLACE.format("stage"), method="POST").text == "another"


def test_it_is_found_under_the_path_of_the_app():
    client = Client(Joined(PlainTextResponse("another"), base="/crf/"))
    assert "export default" in client.get(f"/crf{PLACE.format('stage')}").text
    assert client.get(PLACE.format("stage")).text == "another"


def test_pages_with_a_picture_name_what_is_answered_for(client):
    for page in ENTRIES:
        named = re.findall(r'href="\.([^"]+)"', named_early(page.path))
        assert bool(named) is page.sentence
        assert all("export default" in client.get(place).text for place in named)
    assert named_early("follow/ABC") == named_early("nowhere") == ""


@pytest.mark.parametrize("base", ["", "crf"])
def test_the_head_of_such_a_page_has_our_script_first_and_them_last(monkeypatch, base):
    own = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda name: base if name == "server.baseUrlPath" else own(name)
    )
    client = Client(FirstPaint(HTMLResponse(PAGE)))
    head = f"<html><head><script>{SCRIPT}</script><title>x</title>"
    for path, named in (("viterbi", named_early("viterbi")), ("models", "")):
        page = client.get(f"/{base}/{path}".replace("//", "/"), accept="text/html").text
        assert page == f"{head}{named}</head><body></body></html>"
