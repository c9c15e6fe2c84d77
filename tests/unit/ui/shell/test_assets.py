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
