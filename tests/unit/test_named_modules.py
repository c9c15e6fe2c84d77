"""Modules that comments and docstrings name: each exists, without importing any."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

SOURCES = sorted(
    path
    for folder, kind in (("crfviz", "*.py"), ("crfviz", "*.js"), ("pages", "*.py"))
    for path in (ROOT / folder).rglob(kind)
)
FILES = {path.relative_to(ROOT).as_posix() for path in (ROOT / "crfviz").rglob("*.*")}
FOLDERS = {path.name for path in (ROOT / "crfviz").iterdir() if path.is_dir()}
NAMED = re.compile(r"`([a-z_][\w]*(?:\.\w+)+)`|`((?:\w+/)*\w+\.(?:py|js|css))`")
ELSEWHERE = ("torch/", "tests/", "streamlit/", "benchmarks/")


@cache
def names_in(path):
    """All names that a module defines or imports, those inside its classes included."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    defined = {node.name for node in nodes if hasattr(node, "name")}
    imported = {
        each.asname or each.name
        for node in nodes
        for each in getattr(node, "names", ())
        if isinstance(each, ast.alias)
    }
    return defined | imported | {node.id for node in nodes if isinstance(node, ast.Name)}


def is_module_or_part(name):
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:end])
        files = (place.with_suffix(".py"), place / "__init__.pyi", place / "__init__.py")
        file = next(filter(Path.exists, files), None)
        if file is not None:
            return set(parts[end:]) <= names_in(file)
    return False


def stale_names(text):
    """Names of modules of crfviz in a text that do not exist."""
    for dotted, file in NAMED.findall(text):
        first = dotted.partition(".")[0]
        if (first == "crfviz" and not is_module_or_part(dotted)) or (
            first in FOLDERS and dotted.count(".") > 1 and not is_module_or_part(f"crfviz.{dotted}")
        ):
            yield dotted
        elif file and "/" in file and not any(f"/{known}".endswith(f"/{file}") for known in FILES):
            yield file


def test_named_modules_exist():
    found = [(path.name, name) for path in SOURCES for name in stale_names(path.read_text("utf-8"))]
    assert [each for each in found if not each[1].startswith(ELSEWHERE)] == []


def test_stale_module_name_is_detected():
    assert list(stale_names("see `views.stage.steps`, `crfviz.chain.nowhere`")) == [
        "views.stage.steps",
        "crfviz.chain.nowhere",
    ]
    assert list(stale_names("`web/nowhere.js`, `crfviz.chain.engine.packing.lowest_best`")) == [
        "web/nowhere.js"
    ]
