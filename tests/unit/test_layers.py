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


def test_import_contracts_hold(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)  # switches off our loggers
    status = cli.lint_imports(str(PYPROJECT), no_cache=True)
    assert status == 0, capsys.readouterr().out


def test_every_entry_module_exists():
    paths = {door: ROOT.joinpath(*door.split(".")).with_suffix(".py") for door in DOORS}
    assert [door for door, path in paths.items() if not path.is_file()] == []


def test_pages_import_only_streamlit_and_entry_modules():
    assert [
        (path.name, name)
        for path in [ROOT / "app.py", *sorted(ROOT.glob("pages/*.py"))]
        for name in sorted(imported(path))
        if is_forbidden_for_a_page(name)
    ] == []


def test_folder_has_at_most_twenty_modules():
    folders = {path.parent for path in ROOT.glob("crfviz/**/*.py")}
    sizes = {
        folder.name: len({*folder.glob("*.py")} - {folder / "__init__.py"}) for folder in folders
    }
    assert {name: size for name, size in sizes.items() if size > MAX_MODULES} == {}


STRUCTURE = ROOT / "docs" / "structure.md"
ORDER = ("text", "chain", "taggers", "corpus", "annotations", "views", "ui", "commands")  # layers


def picture(folder=ROOT / "crfviz", depth=0):
    """The lines of docs/structure.md for a folder: its modules, then the folders inside."""
    files = (path for kind in ("*.py", "*.js") for path in folder.glob(kind))
    modules = sorted(path.stem for path in files if not path.stem.startswith("__"))
    line = f"{'  ' * depth}{folder.name}/".ljust(27) + "  ".join(modules)
    inside = [
        path for path in folder.iterdir() if any(path.rglob("*.py")) or any(path.rglob("*.js"))
    ]
    ordered = sorted(
        inside, key=lambda path: (ORDER.index(path.name) if depth == 0 else 0, path.name)
    )
    return [line.rstrip(), *(row for path in ordered for row in picture(path, depth + 1))]


def test_structure_picture_is_up_to_date():
    """If this fails, `python -m tests.unit.test_layers` writes it anew."""
    assert STRUCTURE.read_text("utf-8") == with_picture()


def with_picture():
    before, _, rest = STRUCTURE.read_text("utf-8").partition("<!-- rooms -->\n")
    after = rest.partition("<!-- /rooms -->\n")[2]
    drawn = "\n".join(picture())
    return f"{before}<!-- rooms -->\n```text\n{drawn}\n```\n<!-- /rooms -->\n{after}"


if __name__ == "__main__":
    STRUCTURE.write_text(with_picture(), encoding="utf-8")
