"""Who may import whom: the contracts of pyproject.toml, and what import-linter cannot express."""

import ast
import tomllib

from importlinter import cli

from tests.support.paths import ROOT

MAX_MODULES = 20  # in one folder
PYPROJECT = ROOT / "pyproject.toml"
CONTRACTS = tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]["contracts"]
CLOSED = [  # packages that others enter through their doors
    contract["protected_modules"][0].removesuffix(".*")
    for contract in CONTRACTS
    if contract["id"].startswith("doors-")
]
DOORS = {
    rule.partition(" -> ")[2]
    for contract in CONTRACTS
    if contract["id"].startswith("doors-")
    for rule in contract["ignore_imports"]
}
FOREIGN = {contract["forbidden_modules"][0] for contract in CONTRACTS if "heavy" in contract["id"]}


def imported(path):
    """Modules that a file imports, inside functions too; each name of `from` counts as one."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def is_forbidden_for_a_page(name):
    package, _, rest = name.partition(".")
    if package != "crfviz":
        return package in FOREIGN - {"streamlit"}
    if not (ROOT / "crfviz" / rest.split(".")[0]).is_dir() and not rest.startswith("exceptions."):
        return True  # a name of the package root
    is_closed = any(name.startswith(f"{room}.") for room in CLOSED)
    return is_closed and not any(f"{name}.".startswith(f"{door}.") for door in DOORS)


def test_the_contracts_of_imports_hold(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)  # switches off our loggers
    status = cli.lint_imports(str(PYPROJECT), no_cache=True)
    assert status == 0, capsys.readouterr().out


def test_every_door_is_a_module():
    paths = {door: ROOT.joinpath(*door.split(".")).with_suffix(".py") for door in DOORS}
    assert [door for door, path in paths.items() if not path.is_file()] == []


def test_pages_import_streamlit_and_the_doors_of_packages():
    assert [
        (path.name, name)
        for path in [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py"))]
        for name in sorted(imported(path))
        if is_forbidden_for_a_page(name)
    ] == []


def test_a_folder_has_at_most_twenty_modules():
    folders = {path.parent for path in ROOT.glob("crfviz/**/*.py")}
    sizes = {
        folder.name: len({*folder.glob("*.py")} - {folder / "__init__.py"}) for folder in folders
    }
    assert {name: size for name, size in sizes.items() if size > MAX_MODULES} == {}


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
