"""Who may import whom: every module only from layers before its own."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FAMILIES = {f"taggers/{family}" for family in ("hmm", "perceptron", "neural", "brought")}
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
ROOMS = [  # inside of a layer: rooms in the same line do not know each other
    [{"taggers"}, {"taggers/textbook"}, FAMILIES, {"taggers/registry"}],
    [{"corpus"}, {"corpus/training", "corpus/run"}, {"corpus/tables"}],
    [{"annotations"}, {"annotations/store"}, {"annotations/files", "annotations/teaching"}],
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
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


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


def room_of(name):
    """House, rank and name of the room in which a module stands, None for one without rooms."""
    parts = name.split(".")[1:]
    places = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    for house, rooms in enumerate(ROOMS):
        ranks = {room: rank for rank, line in enumerate(rooms) for room in line}
        room = next((place for place in places if place in ranks), None)
        if room:
            return house, ranks[room], room
    return None


@pytest.mark.parametrize("module", MODULES)
def test_rooms_point_down(module):
    own = room_of(name_of(module))
    for name in imported(module):
        other = room_of(name)
        if own and other and own[0] == other[0]:
            assert other == own or other[1] < own[1], f"{own[2]} must not import {other[2]}"


def test_no_modules_import_each_other_in_a_circle():
    imports = {name_of(module): set(imported(module)) for module in MODULES}
    while free := {name for name, needed in imports.items() if not needed & imports.keys()}:
        imports = {name: needed for name, needed in imports.items() if name not in free}
    assert not imports


def name_of(module):
    return module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
