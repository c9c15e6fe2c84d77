"""A live component is one script with all of its modules."""

import gzip
import re
from types import SimpleNamespace

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse

from crfviz.ui.shell import page_answers
from crfviz.ui.shell.page_answers import SCRIPT, FirstPaint
from crfviz.ui.shell.static_files import COMPONENTS, Bundles
from crfviz.views.contents import PAGES

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
    return Client(Bundles(PlainTextResponse("another")))


@pytest.mark.parametrize("name", COMPONENTS)
def test_component_is_one_script_without_imports(client, name):
    answer = client.get(PLACE.format(name))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    left = re.findall(r"^(?:import|export)\b.*", answer.text, re.MULTILINE)
    assert [line.split()[:2] for line in left] == [["export", "default"]]


def test_bundle_is_compressed_on_request_and_cached(client):
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
    "path", ["/", "/_stcore/bidi-components/crfviz.stage/model.js", PLACE.format("other")]
)
def test_other_requests_are_served_by_streamlit(client, path):
    assert client.get(path).text == "another"
    assert client.get(PLACE.format("stage"), method="POST").text == "another"


def test_bundle_is_served_under_the_base_path():
    client = Client(Bundles(PlainTextResponse("another"), base="/crf/"))
    assert "export default" in client.get(f"/crf{PLACE.format('stage')}").text
    assert client.get(PLACE.format("stage")).text == "another"


def test_first_script_is_inserted_into_the_head():
    client = Client(FirstPaint(HTMLResponse(PAGE)))
    page = client.get("/viterbi", accept="text/html").text
    inserted = re.fullmatch(
        r'<html><head><script data-base="" data-pages="([\w -]+)">(.*)</script>'
        "<title>x</title></head><body></body></html>",
        page,
        flags=re.DOTALL,
    )
    assert inserted
    assert inserted[1].split() == [page.path for page in PAGES if page.path]
    assert inserted[2] == SCRIPT


def test_first_script_knows_the_base_path(monkeypatch):
    monkeypatch.setattr(page_answers, "_base", lambda: "crf")
    client = Client(FirstPaint(HTMLResponse(PAGE)))
    assert '<script data-base="/crf/"' in client.get("/crf/viterbi", accept="text/html").text
