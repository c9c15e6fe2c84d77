"""Streamlit's own scripts and styles come packed, once for all who ask."""

import re
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from streamlit import file_util

from crfviz.ui.shell import static_files as assets
from crfviz.ui.shell.static_files import Assets, pack_first
from tests.unit.ui.shell.test_bundles import Client

FOLDER = Path(file_util.get_static_dir(), "static")
LARGEST = max(FOLDER.glob("js/*.js"), key=lambda file: file.stat().st_size).name


@pytest.fixture
def client():
    return Client(Assets(PlainTextResponse("another")))


@pytest.mark.parametrize("kind", ["js", "css"])
def test_static_file_is_served_compressed_and_cached(client, kind):
    name = next(FOLDER.glob(f"{kind}/index.*.{kind}")).relative_to(FOLDER).as_posix()
    answer = client.get(f"/static/{name}", accept_encoding="gzip, deflate, br")
    assert answer.text == (FOLDER / name).read_text("utf-8")
    assert len(answer.content) < len(answer.text) / 2
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, immutable, max-age=31536000"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"].startswith(
        f"text/{'javascript' if kind == 'js' else kind}"
    )


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        (f"/static/js/{LARGEST}", {}),
        (f"/static/js/{LARGEST}", {"accept_encoding": "identity"}),
        (f"/static/js/{LARGEST}", {"accept_encoding": "gzip", "range": "bytes=0-9"}),
        (f"/static/js/{LARGEST}", {"accept_encoding": "gzip", "method": "HEAD"}),
        ("/static/js/nobody.js", {"accept_encoding": "gzip"}),
        ("/static/js/../../index.html", {"accept_encoding": "gzip"}),
        ("/static/js/", {"accept_encoding": "gzip"}),
        ("/", {"accept_encoding": "gzip"}),
        (f"/js/{LARGEST}", {"accept_encoding": "gzip"}),
    ],
    ids=str,
)
def test_other_paths_are_served_by_streamlit(client, path, asked):
    assert client.get(path, **asked).text == "another"


def test_static_files_are_served_under_the_base_path():
    client = Client(Assets(PlainTextResponse("another"), base="/crf/"))
    for place, found in (("/crf/static", True), ("/static", False)):
        answer = client.get(f"{place}/js/{LARGEST}", accept_encoding="gzip")
        assert (answer.text != "another") is found


def test_first_scripts_of_the_page_are_compressed_at_startup(client, monkeypatch):
    pack_first()
    monkeypatch.setattr(assets, "compress", None)
    page = (FOLDER.parent / "index.html").read_text("utf-8")
    named = re.findall(r"\./(static/(?:js|css)/[^\"]+)", page)
    assert len(named) > 20
    for name in named:
        assert client.get(f"/{name}", accept_encoding="gzip").status_code == 200
