"""Who may import whom: modules only from layers and rooms before their own, through their doors."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.support.paths import ROOT

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
ROOMS = {  # inside of a layer, from the ground up; what has no line stands on the ground
    "chain": [{"decoding", "demonstrations", "homework"}, {"questions"}, {"entities"}],
    "taggers": [{"textbook"}, {"hmm", "perceptron", "neural", "brought"}, {"registry"}],
    "corpus": [{"training", "run"}, {"counts"}, {"tables"}, {"shards"}],
    "annotations": [{"store"}, {"files", "teaching"}],
    "views": [{"stage"}, {"strips"}, {"frames", "quiz"}, {"figures"}, {"exports"}, {"site"}],
    "ui": [
        {"state", "watching"},
        {"cached"},
        {"session"},
        {"following", "beside"},
        {"scene", "asking"},
        {"widgets"},
        {"pictures"},
        {"panels"},
        {"annotate"},
        {"errors"},
        {"shell"},
        {"lectures", "tour"},
    ],
}
DOORS = {  # the modules of a room that others may import; a room without a line is open
    "crfviz.annotations.store": {"database", "failures", "store"},
    "crfviz.annotations.files": {"importing", "merging", "exporting"},
    "crfviz.corpus.tables": {"analysis", "decoders", "errors", "report", "slices", "two_models"},
    "crfviz.taggers.brought": {"draft", "files", "tagger", "understood"},
    "crfviz.ui.tour": {"guide"},
    "crfviz.views.quiz": {"asked", "question"},
    "crfviz.ui.errors": {"questions", "runs", "source", "walk"},
    "crfviz.ui.following": {"homes", "rooms", "routes", "wall"},
    "crfviz.ui.lectures": {"editor", "overview", "player"},
    "crfviz.ui.shell": {"body", "frame", "server", "sidebar"},
    "crfviz.ui.state": {"covers", "events", "link", "scenario", "snapshots"},
}
HEAVY = {  # where these may be imported
    "streamlit": ("crfviz/views/stage/component.py", "crfviz/ui/", "pages/", "app.py"),
    "plotly": ("crfviz/views/",),
    "altair": ("crfviz/views/",),
    "distributed": ("crfviz/corpus/shards/cluster.py",),
    "dask": (),
    "numba": ("crfviz/chain/engine/kernels/",),
}
MOST = 20  # modules side by side
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in [*ROOT.glob("crfviz/**/*.py"), *ROOT.glob("pages/*.py"), *ROOT.glob("app.py")]
    if path != ROOT / "crfviz/__init__.py"  # the public names, from everywhere
}


def layer_of(module):
    """`crfviz.chain.crf` is in "chain", `crfviz.exceptions` in "exceptions"."""
    package, _, rest = module.partition(".")
    own = rest.split(".")[0]
    return own if package == "crfviz" and own != "__main__" else "pages"


def room_of(module):
    """The room of its layer in which a module stands, and how high; 0 is the ground."""
    _, layer, *rest = module.split(".")
    for floor, rooms in enumerate(ROOMS.get(layer, []), 1):
        if rest and rest[0] in rooms:
            return floor, rest[0]
    return 0, layer


@cache
def imported(module):
    """Names of the modules that a module imports, also inside of functions."""
    names = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "no relative imports"
            each = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = each & MODULES.keys()
            names |= inner | ({node.module} if each - inner else set())
    return names


def own_imports(module):
    """Those of the project's own modules."""
    return {name for name in imported(module) if name.split(".")[0] == "crfviz"}


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    own = layer_of(module)
    for name in own_imports(module):
        assert name != "crfviz", "import the module, not the package root"
        other = layer_of(name)
        assert other == own or RANK[other] < RANK[own], f"{own} must not import {other}"
        if other == own and own != "pages":
            here, there = room_of(module), room_of(name)
            assert here == there or here[0] > there[0], f"{module} must not know {name}"


def test_no_modules_import_each_other():
    try:
        TopologicalSorter({module: own_imports(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("module", MODULES)
def test_a_room_is_entered_through_its_door(module):
    for name in own_imports(module):
        room, _, inside = name.rpartition(".")
        if room in DOORS and not module.startswith(f"{room}."):
            assert inside in DOORS[room], f"{inside} is no door of {room}"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_packages_stay_where_they_are_needed(module):
    packages = {name.split(".")[0] for name in imported(module)}
    place = MODULES[module].relative_to(ROOT).as_posix()
    for package in packages & HEAVY.keys():
        assert place.startswith(HEAVY[package]), f"{package} is not for {module}"


def test_every_package_has_a_layer_and_every_room_is_there():
    assert {layer_of(module) for module in MODULES} == RANK.keys()
    places = MODULES.keys() | {name.rpartition(".")[0] for name in MODULES}
    rooms = {f"crfviz.{layer}.{room}" for layer in ROOMS for room in set().union(*ROOMS[layer])}
    doors = {f"{room}.{door}" for room in DOORS for door in DOORS[room]}
    assert rooms | doors <= places


def test_no_folder_is_a_long_list():
    folders = {path.parent for path in MODULES.values() if "crfviz" in path.parts}
    for folder in folders:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(modules) <= MOST, f"{folder.name} holds {len(modules)} modules"


def test_the_picture_of_the_rooms_is_true():
    text = (ROOT / "docs/design.md").read_text("utf-8").split("```text\ncrfviz/")[1]
    drawn, folders = {}, []
    for line in f"crfviz/{text.split('```')[0]}".splitlines():
        folder, *modules = line.split()
        folders[(len(line) - len(line.lstrip())) // 2 :] = [folder]
        drawn["".join(folders)] = set(modules)
    standing = {}
    for path in [*ROOT.glob("crfviz/**/*.py"), *ROOT.glob("crfviz/**/*.js")]:
        if not path.stem.startswith("__"):
            folder = f"{path.parent.relative_to(ROOT).as_posix()}/"
            standing.setdefault(folder, set()).add(path.stem)
    assert drawn == standing
