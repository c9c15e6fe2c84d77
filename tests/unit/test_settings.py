"""Settings: what each variable accepts, and that bad values are named."""

import re
from pathlib import Path

import pytest

from crfviz.__main__ import main
from crfviz.exceptions import SettingsError
from crfviz.settings import (
    Limits,
    Settings,
    read_settings,
    settings,
    settings_table,
    variables,
)
from crfviz.ui.shell import server
from tests.support.paths import ROOT


def test_only_settings_reads_the_environment():
    readers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "crfviz").rglob("*.py")
        if re.search(
            r"\bos\.(environ|getenv)\b|from os import .*env", path.read_text(encoding="utf-8")
        )
    ]
    assert readers == ["crfviz/settings.py"]


def test_empty_environment_gives_the_defaults():
    assert read_settings({}) == Settings()
    assert read_settings(dict.fromkeys(variables(), " ")) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("database_url", "sqlite:////srv/a.db", "sqlite:////srv/a.db"),
        ("database_url", "postgres://kim@host/name", "postgres://kim@host/name"),
        ("rooms", "process", "process"),
        ("rooms", "postgresql+psycopg://host/name", "postgresql+psycopg://host/name"),
        ("user_models", "/some/where", Path("/some/where")),
        ("models", "/a:/b:", (Path("/a"), Path("/b"))),
        ("plugins", "a.b:C , /, x:y", ("a.b:C", "/", "x:y")),
        ("lectures", "/a", (Path("/a"),)),
        ("uploads", "Off", False),
        ("uploads", "0", False),
        ("uploads", "on", True),
        ("login", "required", "required"),
        ("frames", "https://a.example  http://*.b:80", ("https://a.example", "http://*.b:80")),
        ("limits", "line=7  requests=5", Limits(requests=5, jobs=3, line=7)),
        ("device", "CPU", "cpu"),
        ("compiled", "false", False),
        ("replica", "two-2", "two-2"),
        ("metrics", "local", "local"),
        ("metrics", "x" * 16, "x" * 16),
        ("log", "json", "json"),
        ("log_texts", "on", True),
        ("streamlit_hooks", "off", False),
    ],
)
def test_each_variable_is_parsed(name, value, parsed):
    read = read_settings({f"CRFVIZ_{name.upper()}": f" {value} "})
    assert getattr(read, name) == parsed


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DATABASE_URL", "mysql://h/n", "expected sqlite:////folder/file.db or postgresql://"),
        ("DATABASE_URL", "annotations.db", "got 14 characters"),
        ("ROOMS", "sqlite:////tmp/rooms.db", "expected process or postgresql://user@host/name"),
        ("UPLOADS", "maybe", "expected on or off, got 'maybe'"),
        ("LOGIN", "yes", "expected required, got 'yes'"),
        ("FRAMES", "https://a;script-src", "expected origins such as https://slides.example"),
        ("LIMITS", "jobs", "expected some of requests=N jobs=N line=N"),
        ("LIMITS", "jobs=0", "got 'jobs=0'"),
        ("LIMITS", "jobs=1e3", "got 'jobs=1e3'"),
        ("LIMITS", "tabs=3", "got 'tabs=3'"),
        ("LIMITS", "jobs=9999999999999", "N from 1 to 1000000"),
        ("DEVICE", "tpu", "expected cpu or cuda, got 'tpu'"),
        ("REPLICA", "a;b", "expected 1 to 32 of a-z, 0-9 and -"),
        ("METRICS", "x" * 15, "expected local or a token of at least 16 characters, got 15 ch"),
        ("PLUGINS", "a:b,/no/such/folder", "expected module:Class and folders of Python files"),
        ("LOG", "xml", "expected text or json, got 'xml'"),
        ("MODELS", "${FOLDER:?}/x", "contains the placeholder ${FOLDER}"),
    ],
)
def test_invalid_value_is_named_and_stops_the_server(name, value, message, monkeypatch):
    with pytest.raises(SettingsError) as error:
        read_settings({f"CRFVIZ_{name}": value})
    assert str(error.value).startswith(f"CRFVIZ_{name}")
    assert message in str(error.value)
    monkeypatch.setenv(f"CRFVIZ_{name}", value)
    with pytest.raises(SystemExit, match=f"crfviz does not start: CRFVIZ_{name}"):
        server.middleware()


def test_settings_are_cached_until_cleared(monkeypatch):
    monkeypatch.setenv("CRFVIZ_REPLICA", "one")
    first = settings()
    assert first.replica == "one"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRFVIZ_REPLICA", "two")
        assert settings() is first
        settings.cache_clear()
        assert settings().replica == "two"


def test_settings_command_hides_secrets(monkeypatch, capsys):
    monkeypatch.setenv("CRFVIZ_DATABASE_URL", "postgresql://kim:secret@host/name")
    monkeypatch.setenv("CRFVIZ_METRICS", "a-secret-of-17-ch")
    monkeypatch.setenv("CRFVIZ_LOG", "json")
    monkeypatch.delenv("CRFVIZ_DEVICE", raising=False)
    monkeypatch.setenv("CRFVIZ_UPLOAD", "off")
    assert main(["settings"]) == 0
    printed = capsys.readouterr().out
    assert "CRFVIZ_DATABASE_URL = postgresql://kim:***@host/name\n" in printed
    assert "CRFVIZ_METRICS = ***\n" in printed
    assert "CRFVIZ_LOG = json\n" in printed
    assert "CRFVIZ_DEVICE is not set\n" in printed
    assert ":secret@" not in printed
    assert "a-secret" not in printed
    unknown = printed.partition("change nothing: ")[2].split()  # of others, those of the tests
    assert "CRFVIZ_UPLOAD" in {name.rstrip(",") for name in unknown}
    for name, about in variables().items():
        assert name in printed
        assert f"  {about.meaning}\n  values: {about.values}\n".replace("`", "") in printed


def test_settings_command_fails_with_an_invalid_value(monkeypatch, capsys):
    monkeypatch.setenv("CRFVIZ_LOG", "xml")
    assert main(["settings"]) == 2
    assert "crfviz: CRFVIZ_LOG: expected text or json" in capsys.readouterr().err


def test_documented_settings_table_is_up_to_date(capsys):
    """If this fails, put the output of `python -m crfviz settings --markdown` there."""
    text = (ROOT / "docs/deployment.md").read_text("utf-8")
    assert text.partition("<!-- settings -->\n")[2].partition("\n<!-- /settings -->")[0] == (
        settings_table()
    )
    assert main(["settings", "--markdown"]) == 0
    assert capsys.readouterr().out == f"{settings_table()}\n"


def test_only_the_settings_module_reads_crfviz_variables():
    reads = re.compile(r"""(environ|getenv)(\.get)?[(\[](["']CRFVIZ|[A-Z_]+[,)\]])""")
    texts = {path: path.read_text("utf-8") for path in ROOT.glob("crfviz/**/*.py")}
    assert [path for path, text in texts.items() if reads.search(text)] == []
