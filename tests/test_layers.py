"""Who may import whom: every module only from layers before its own."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [  # a package may import only from lines above its own, and from itself
    {"exceptions"},
    {"text"},
    {"chain"},
    {"taggers"},
    {"corpus"},
    {"annotations"},
    {"views"},
    {"ui", "commands"},
    {"pages"},  # with app.py and `python -m crfviz`
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
HEAVY = {  # where these may be imported
    "streamlit": ("crfviz/views/stage/component.py", "crfviz/ui/", "pages/", "app.py"),
    "plotly": ("crfviz/views/",),
    "altair": ("crfviz/views/",),
}
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("crfviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("app.py")]
    if path != ROOT / "crfviz/__init__.py"  # the public names, from everywhere
)


def layer_of(module):
    """`crfviz/chain/crf.py` is in "chain", `crfviz/exceptions.py` in "exceptions"."""
    parts = Path(module).with_suffix("").parts
    if parts[0] != "crfviz" or parts[1] == "__main__":
        return "pages"
    return parts[1]


def imported(module):
    """Names of the modules that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "no relative imports"
            yield node.module


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    own = layer_of(module)
    for name in imported(module):
        package, _, rest = name.partition(".")
        if package == "crfviz":
            assert rest, "import the module, not the package root"
            other = rest.split(".")[0]
            assert other == own or RANK[other] < RANK[own], f"{own} must not import {other}"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_packages_stay_where_they_are_needed(module):
    packages = {name.split(".")[0] for name in imported(module)}
    for package in packages & HEAVY.keys():
        assert module.startswith(HEAVY[package]), f"{package} is not for {module}"


def test_every_package_has_a_layer():
    packages = {path.parent.name for path in ROOT.glob("crfviz/*/*.py")}
    assert packages <= RANK.keys()
