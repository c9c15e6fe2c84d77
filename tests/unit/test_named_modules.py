"""Modules that comments and docstrings name: each exists."""

import re
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.support.paths import ROOT

SOURCES = sorted(
    path
    for folder, kind in (("crfviz", "*.py"), ("crfviz", "*.js"), ("pages", "*.py"))
    for path in (ROOT / folder).rglob(kind)
)
FILES = {path.relative_to(ROOT).as_posix() for path in (ROOT / "crfviz").rglob("*.*")}
FOLDERS = {path.name for path in (ROOT / "crfviz").iterdir() if path.is_dir()}
NAMED = re.compile(r"`([a-z_][\w]*(?:\.\w+)+)`|`((?:\w+/)*\w+\.(?:py|js|css))`")


def is_module_or_part(name):
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            if find_spec(module) is None:
                continue
        except ModuleNotFoundError:
            continue
        found = import_module(module)
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def stale_names(text):
    """Names of modules of crfviz in a text that there are not."""
    for dotted, file in NAMED.findall(text):
        first = dotted.partition(".")[0]
        if (first == "crfviz" and not is_module_or_part(dotted)) or (
            first in FOLDERS and dotted.count(".") > 1 and not is_module_or_part(f"crfviz.{dotted}")
        ):
            yield dotted
        elif file and "/" in file and not any(f"/{known}".endswith(f"/{file}") for known in FILES):
            yield file


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_named_module_exists(path):
    elsewhere = ("torch/", "tests/", "streamlit/", "benchmarks/")
    stale = stale_names(path.read_text("utf-8"))
    assert [name for name in stale if not name.startswith(elsewhere)] == []


def test_stale_module_name_is_detected():
    assert list(stale_names("see `views.stage.steps`, `crfviz.chain.nowhere`")) == [
        "views.stage.steps",
        "crfviz.chain.nowhere",
    ]
    assert list(stale_names("`web/nowhere.js`, `crfviz.chain.engine.packing.lowest_best`")) == [
        "web/nowhere.js"
    ]
