"""Streamlit's own scripts and styles are compressed."""

import pytest
from starlette.responses import PlainTextResponse

from crfviz.ui.shell.static_files import StaticGzip
from tests.unit.ui.shell.test_bundles import Client

TEXT = "let a = 1;\n" * 1000


def client(**options):
    return Client(StaticGzip(PlainTextResponse(TEXT), **options))


@pytest.mark.parametrize(
    ("path", "asked", "is_compressed"),
    [
        ("/static/js/index.js", {"accept_encoding": "gzip, deflate, br"}, True),
        ("/static/css/index.css", {"accept_encoding": "gzip"}, True),
        ("/static/js/index.js", {}, False),
        ("/static/js/index.js", {"accept_encoding": "identity"}, False),
        ("/static/js/index.js", {"accept_encoding": "gzip", "range": "bytes=0-9"}, False),
        ("/", {"accept_encoding": "gzip"}, False),
        ("/media/a.csv", {"accept_encoding": "gzip"}, False),
    ],
    ids=str,
)
def test_whole_static_files_are_compressed(path, asked, is_compressed):
    answer = client().get(path, **asked)
    assert answer.text == TEXT
    assert (answer.headers.get("content-encoding") == "gzip") is is_compressed
    if is_compressed:
        assert len(answer.content) < len(TEXT) / 2
        assert answer.headers["vary"] == "Accept-Encoding"


def test_static_files_are_compressed_under_the_base_path():
    for place, is_compressed in (("/crf/static", True), ("/static", False)):
        answer = client(base="/crf/").get(f"{place}/js/index.js", accept_encoding="gzip")
        assert ("content-encoding" in answer.headers) is is_compressed


def counting(texts):
    """An application that notes the paths of its requests, and answers each with its text."""
    asked = []

    async def app(scope, receive, send):
        asked.append(scope["path"])
        text = texts.get(scope["path"], "")
        answer = PlainTextResponse(text, 200 if text else 404, {"cache-control": "x"})
        await answer(scope, receive, send)

    return asked, Client(StaticGzip(app))


def test_a_compressed_file_is_kept_and_others_are_asked_for_again():
    asked, client = counting({"/static/a.js": TEXT, "/static/b.js": "short"})
    first = client.get("/static/a.js", accept_encoding="gzip")
    again = client.get("/static/a.js", accept_encoding="gzip, br")
    assert (again.text, dict(again.headers)) == (TEXT, dict(first.headers))
    assert asked == ["/static/a.js"]
    for path in ("/static/b.js", "/static/missing.js"):
        for _ in range(2):
            client.get(path, accept_encoding="gzip")
    assert asked[1:] == 2 * ["/static/b.js"] + 2 * ["/static/missing.js"]
    for headers in ({}, {"accept_encoding": "gzip", "if_none_match": "x"}):
        asked.clear()
        assert client.get("/static/a.js", **headers).text == TEXT
        assert asked == ["/static/a.js"]
    asked.clear()
    client.get("/static/a.js", method="HEAD", accept_encoding="gzip")
    assert asked == ["/static/a.js"]
