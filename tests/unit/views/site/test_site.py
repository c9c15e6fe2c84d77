"""The explorer as a folder: what is written, what is left alone, and what is refused."""

import json
import re
import sys
from pathlib import Path

import pytest

import crfviz
from crfviz.__main__ import main
from crfviz.taggers.examples import Example
from crfviz.taggers.registry import SHIPPED
from crfviz.views.contents import ENTRIES
from crfviz.views.exports.live import PAGES
from crfviz.views.site.folder import write_site
from tests.support.fake_tagger import FakeTagger
from tests.support.small_disk import small_disk

CHAINS = ["--model", "textbook/ice-cream", "--model", "textbook/label-bias"]


class Shown(FakeTagger):
    """One with an example."""

    def examples(self):
        return [Example("a", ("a",), "It is one word.", "given")]


def index_of(folder):
    page = (folder / "index.html").read_text("utf-8")
    return page, json.loads(re.search(r'id="site">(.*?)</script>', page, re.DOTALL)[1])


def files_of(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*"))


@pytest.mark.parametrize("terminal", [True, False])
def test_site_command_writes_a_folder_and_reports_it(terminal, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    out = tmp_path / "made" / "site"
    assert main(["site", str(out), *CHAINS]) == 0
    models = ["models/textbook-ice-cream.js", "models/textbook-label-bias.js"]
    assert files_of(out) == ["crfviz-site.json", "index.html", *models]
    said = capsys.readouterr()
    assert all(f"{name}: " in said.err for name in [*models, "index.html"]) == terminal
    assert bool(said.err) == terminal
    assert f"{out / 'index.html'}: open it" in said.out


def test_site_page_loads_only_its_own_scripts(tmp_path):
    write_site(tmp_path, [crfviz.load_tagger("textbook/fever")])
    page, index = index_of(tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert re.match(r"default-src 'none'; script-src 'sha256-\S+ 'self' 'sha256-", policy)
    assert "unsafe" not in policy
    assert not re.search(r'\s(src|href|on\w+)\s*=\s*"', page.partition('<script type="module">')[0])
    assert index["models"][0]["examples"][0]["gold"] == [0, 0, 1]


def test_every_page_is_drawn_or_says_that_it_needs_the_server(tmp_path):
    write_site(tmp_path, [crfviz.load_tagger("textbook/fever")])
    _, index = index_of(tmp_path)
    told = {page["title"]: page["elsewhere"] for page in index["elsewhere"]}
    drawn = {page.title for page in PAGES.values()}
    assert drawn | told.keys() == {entry.title for entry in ENTRIES}
    assert not drawn & told.keys()
    assert all("needs the server" in text and "make run" in text for text in told.values())


def test_rewriting_a_site_removes_models_no_longer_in_it(tmp_path):
    chains = [crfviz.load_tagger(f"textbook/{name}") for name in ("fever", "casino")]
    write_site(tmp_path, chains)
    before = files_of(tmp_path)
    write_site(tmp_path, chains[:1])
    assert set(before) - set(files_of(tmp_path)) == {"models/textbook-casino.js"}


@pytest.mark.parametrize("name", ["thesis.txt", "index.html", "crfviz-site.json"])
def test_folder_with_other_files_is_rejected_unchanged(tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    assert main(["site", str(tmp_path), *CHAINS]) == 2
    assert "expected a new or empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_edited_file_list_does_not_delete_files_outside(tmp_path):
    site, other = tmp_path / "site", tmp_path / "mine.js"
    other.write_text("mine")
    write_site(site, [crfviz.load_tagger("textbook/fever")])
    (site / "crfviz-site.json").write_text(json.dumps({"files": ["../mine.js", 3, "index.html"]}))
    write_site(site, [crfviz.load_tagger("textbook/fever")])
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    ("taggers", "expected"),
    [
        (["textbook/fever", "textbook/fever"], "each model once"),
        (["textbook/fever", Shown(["X"], {})], "cannot go into a file"),
        ([FakeTagger(["X"], {})], "has no example"),
    ],
)
def test_unsupported_models_are_rejected_before_writing(tmp_path, taggers, expected):
    loaded = [crfviz.load_tagger(each) if isinstance(each, str) else each for each in taggers]
    with pytest.raises(crfviz.CrfvizError, match=expected):
        write_site(tmp_path / "site", loaded)
    assert not list(tmp_path.iterdir())


def test_unwritable_folder_is_reported(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["site", str(tmp_path / "file" / "site"), *CHAINS]) == 2
    assert "cannot be changed" in capsys.readouterr().err


def test_full_disk_is_reported_and_writing_can_be_resumed(tmp_path, capsys):
    out = tmp_path / "site"
    with small_disk(60_000):
        assert main(["site", str(out), *CHAINS]) == 2
    assert "index.html: cannot be written: File too large" in capsys.readouterr().err
    models = ["models/textbook-ice-cream.js", "models/textbook-label-bias.js"]
    assert files_of(out) == ["crfviz-site.json", *models]  # nothing is there by half
    assert main(["site", str(out), *CHAINS]) == 0
    whole = (out / "index.html").read_text("utf-8")
    with small_disk(60_000):
        assert main(["site", str(out), *CHAINS]) == 2
    assert (out / "index.html").read_text("utf-8") == whole


@pytest.mark.parametrize("name", ["replace", "unlink", "mkdir"])
def test_file_that_cannot_be_removed_is_reported(tmp_path, capsys, monkeypatch, name):
    chains = [crfviz.load_tagger(f"textbook/{name}") for name in ("fever", "ice-cream")]
    write_site(tmp_path, chains)
    before = files_of(tmp_path)

    def refused(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, name, refused)
    assert main(["site", str(tmp_path), "--model", "textbook/fever"]) == 2
    assert "Permission denied" in capsys.readouterr().err
    assert files_of(tmp_path) == before


def test_models_with_similar_names_get_distinct_files(tmp_path):
    names = ["a b", "a-b", "é"]
    chain = (SHIPPED / "textbook" / "fever.json").read_text("utf-8")
    for name in names:
        (tmp_path / f"{name}.json").write_text(chain, "utf-8")
    taggers = [crfviz.load_tagger(tmp_path / f"{name}.json") for name in names]
    write_site(tmp_path / "site", taggers)
    files = ["textbook-a-b-2.js", "textbook-a-b.js", "textbook.js"]
    assert files_of(tmp_path / "site" / "models") == files
    script = (tmp_path / "site" / "models" / "textbook.js").read_text("utf-8")
    assert str(tmp_path) not in script
