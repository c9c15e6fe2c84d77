"""The documents are true: their Python runs, and what they name, link to and list exists."""

import contextlib
import io
import json
import re
import shlex
import string
import subprocess
import sys
import tomllib
from importlib import import_module
from pkgutil import resolve_name

import jsonschema
import pytest

import crfviz
from crfviz.__main__ import main
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.exceptions import FormatError
from crfviz.taggers import plugins
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.ui.panels.bring import EXAMPLE
from crfviz.views.contents import ENTRIES, GROUPS, page_of, view_in, views_of
from tests.support import fake_transformers
from tests.support.brought import understand
from tests.support.paths import ROOT

GUIDES = ["README.md", "CONTRIBUTING.md"] + [
    path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/*.md"))
]  # what is written by hand about the program as it is
CARDS = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("models/*/README.md"))]
DOCUMENTS = [*GUIDES, "CHANGELOG.md", *CARDS]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
TOP = ["crfviz", "pages", "tests", "benchmarks", "docs", "models", r"\.ci", r"\.streamlit"]
PATHS = re.compile(rf"(?<![\w/.])(?:{'|'.join(TOP)})/[\w./-]*")  # from the root of the repository
APPS = {"docs/streamlit.md"}  # tests/browser/test_guest.py runs them
NOT_SHIPPED = {"models/mine", "models/quick", ".streamlit/secrets.toml"}  # readers make these


def blocks(language, name="README.md"):
    return re.findall(rf"```{language}\n(.*?)```", TEXTS[name], flags=re.DOTALL)


def prose(name):
    """A document without its blocks of code."""
    return re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)


def commands(name):
    """Each `python -m crfviz ...` of the document, as its words."""
    text = re.sub(r"\\\n\s*", "", TEXTS[name])
    for line in re.findall(r"^ *python -m crfviz (.*)$", text, flags=re.MULTILINE):
        yield shlex.split(line, comments=True)


def snippets(name):
    """Words set as code, and blocks of commands."""
    return re.findall(r"`([^`\n]+)`", prose(name)) + blocks("sh", name)


def links(name):
    return re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(name))


def anchors(name):
    """What a `#` in a link to this document may say: its headings as GitHub writes them."""
    text = (ROOT / name).read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    kept = string.ascii_lowercase + string.digits + "-_ "
    return {"".join(c for c in t.lower() if c in kept).replace(" ", "-") for t in titles}


def help_of(capsys, *words):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    return capsys.readouterr().out


def test_readme_code_runs():
    code = blocks("python")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert "VERB" in printed.getvalue()


@pytest.mark.parametrize(
    "name", [name for name in GUIDES[1:] if blocks("python", name) and name not in APPS]
)
def test_document_code_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    monkeypatch.setattr(plugins, "_registered", {})
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers)
    (tmp_path / "dev.conll").write_text(fake_transformers.DEV, "utf-8")
    for code in blocks("python", name):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, name, "exec"), {"__name__": "of_a_document"})
        assert name != "docs/bring-your-own.md" or len(code.splitlines()) <= 15


def test_bring_your_own_example_tags_its_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    code = next(b for b in blocks("python", "docs/bring-your-own.md") if "bring(" in b)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "bring-your-own.md", "exec"), {})
    assert printed.getvalue().strip() == "['DET', 'NOUN', 'VERB']"
    assert "mine" in list_taggers()


def test_pipeline_recipe_measures_first_pieces(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", fake_transformers)
    (tmp_path / "dev.conll").write_text(fake_transformers.DEV, "utf-8")
    code = next(b for b in blocks("python", "docs/bring-your-own.md") if "crf_gain" in b)
    variables = {}
    exec(compile(code, "bring-your-own.md", "exec"), variables)
    printed = capsys.readouterr().out
    assert printed.startswith("On these 20 sentences a CRF layer adds ")
    model, chain = variables["ner"].model, variables["chains"][0]
    expected = [  # [CLS], then two pieces a word
        model.weights[fake_transformers.piece(word, 0)].tolist()
        for word in variables["gold"][0].tokens
    ]
    assert chain.emissions.tolist() == expected
    assert chain.tags == ("O", "B-PER", "I-PER")


def test_library_document_lists_every_public_name_and_page():
    text = TEXTS["docs/library.md"]
    shown = {"Trace", "Grade", "Path", "Viterbi", "ForwardBackward", "Iteration", "Match"}
    results = shown | {
        "Attribution",
        "Calibration",
        "CRFGain",
        "Exercise",
        "FittedTransitions",
        "LeastCost",
        "PieceReading",
        "Pieces",
        "Step",
        "Tagger",
        "Token",
        "Verdict",
        "WrongCell",
    }  # what functions return
    missing = [name for name in crfviz.__all__ if not re.search(rf"\b{name}\b", text)]
    assert set(missing) <= results
    recipes = re.findall(r"^(?:# (.+)|\*\*(.+)\*\*:.*)$", text, re.MULTILINE)
    pages = {entry.title for entry in ENTRIES} - {"Lectures", "Guides"}  # these have no numbers
    assert pages <= {title for titles in recipes for title in titles}


def test_readme_lists_every_page():
    readme = TEXTS["README.md"]
    for entry in ENTRIES:
        view = f"?view={entry.path}" if view_in(entry.path) else ""
        assert f"| {entry.title} | `/{page_of(entry.path).path}{view}` |" in readme
    assert len(re.findall(r"^\| [^|]+ \| `/[^`]*` \|", readme, re.MULTILINE)) == len(ENTRIES)


def test_readme_has_the_sidebar_groups():
    table = TEXTS["README.md"].partition("## Pages")[2].partition("## ")[0]
    rows = re.findall(r"^\| (?:\*\*(.+)\*\* \| \||([^|*]+) \| `/)", table, re.MULTILINE)
    expected = []
    for heading, group in GROUPS.items():
        expected += [heading, *(each.title for page in group for each in views_of(page).values())]
    assert [heading or title for heading, title in rows] == [*expected, "Guides"]


def test_documents_name_exactly_the_existing_commands(capsys):
    named = {words[0] for name in GUIDES for words in commands(name)}
    printed = help_of(capsys)
    listed = set(re.findall(r"^  (\w+)  ", printed.split("commands:")[1], flags=re.MULTILINE))
    assert named == listed


def test_documented_command_options_exist(capsys):
    known = {}
    unknown = []
    for name in DOCUMENTS:
        for words in commands(name):
            called = tuple(words[: 2 if words[0] == "annotations" else 1])
            if called not in known:
                known[called] = set(re.findall(r"--[\w-]+", help_of(capsys, *called)))
            options = {word for word in words if word.startswith("--")}
            unknown += [(name, *called, option) for option in options - known[called]]
    assert unknown == []


def test_documented_make_targets_exist():
    known = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    code = "\n".join(snippet for name in GUIDES for snippet in snippets(name))
    named = set(re.findall(r"\bmake (\w+)", code))
    assert {"run", "test"} <= named <= known


def leads_somewhere(name, link):
    target, _, anchor = link.partition("#")
    file = (ROOT / name).parent / target if target else ROOT / name
    return file.exists() and (not anchor or anchor in anchors(file.resolve().relative_to(ROOT)))


def can_be_imported(name):
    try:
        return resolve_name(name) is not None
    except (ImportError, AttributeError):
        return False


def test_document_links_and_pictures_resolve():
    every = [(name, link) for name in DOCUMENTS for link in links(name)]
    assert len(every) > 50
    assert [each for each in every if not leads_somewhere(*each)] == []


def test_documented_paths_and_modules_exist():
    every = [(name, code) for name in GUIDES for code in snippets(name)]
    paths = [(name, path.rstrip("./")) for name, code in every for path in PATHS.findall(code)]
    modules = [(name, code) for name, code in every if re.fullmatch(r"crfviz(\.\w+)+", code)]
    assert [
        (name, path)
        for name, path in paths
        if path not in NOT_SHIPPED and not (ROOT / path).exists()
    ] == []
    assert [(name, module) for name, module in modules if not can_be_imported(module)] == []


def test_every_document_and_picture_is_linked():
    reached, waiting = set(), ["README.md"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        for link in links(name):
            file = ((ROOT / name).parent / link.partition("#")[0]).resolve()
            found = file.relative_to(ROOT).as_posix()
            if found in TEXTS and found not in reached:
                waiting.append(found)
            reached.add(found)
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*") if path.is_file()}
    assert files | set(DOCUMENTS) <= reached
    assert len(re.findall(r"!\[[^\]]+\]\(", TEXTS["README.md"])) == 3


def test_measured_tables_equal_the_benchmark_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # one of the programs sets it, for its own process
    before = set(sys.modules)
    try:
        measured = import_module("measured")
        text = TEXTS["docs/measured.md"]
        assert measured.filled(text) == text
        with pytest.raises(ValueError, match="expected the sections"):
            measured.filled(text + "\n<!-- old -->\nof last year\n<!-- /old -->\n")
        with pytest.raises(ValueError, match="expected the sections"):
            measured.filled(text.replace("<!-- /models -->", ""))
    finally:
        for module in set(sys.modules) - before:
            if (ROOT / "benchmarks" / f"{module}.py").exists():
                del sys.modules[module]  # other tests load these under names of their own
    others = "\n".join(TEXTS[name] for name in DOCUMENTS if name != "docs/measured.md")
    assert not [section for section in measured.measured() if f"<!-- {section} -->" in others]


def test_scores_example_fits_its_schema_and_equals_the_page():
    (example,) = blocks("json", "docs/bring-your-own.md")
    schema = json.loads((ROOT / "docs" / "potentials.schema.json").read_text())
    jsonschema.validate(json.loads(example), schema)
    assert example.strip() == EXAMPLE
    found = understand(("scores.json", example.encode()))
    assert viterbi(found.sentences[0]).path == [0, 1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"transition": [[0]], "emissions": [[0]]},
        {"emissions": [[0]], "sentences": []},
        {"emissions": [["x"]]},
        {"tags": [1], "emissions": [[0]]},
        {"sentences": [{"emissions": [[1]], "token": ["a"]}]},
        {},
    ],
)
def test_scores_outside_the_schema_are_rejected(wrong):
    schema = json.loads((ROOT / "docs" / "potentials.schema.json").read_text())
    wrong = {"transitions": [[0]], **wrong}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)
    with pytest.raises(FormatError):
        understand(("scores.json", json.dumps(wrong).encode()))


def test_documented_plugin_can_be_installed_and_loaded(tmp_path, monkeypatch):
    name = "docs/bring-your-own.md"
    module = next(b for b in blocks("python", name) if b.startswith("# shouting.py"))
    (project,) = blocks("toml", name)
    assert len(module.strip().splitlines()) <= 15
    (tmp_path / "shouting.py").write_text(module)
    (tmp_path / "pyproject.toml").write_text(project)
    alone = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", "-q", *alone, "--target", "there", "."]
    installed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    monkeypatch.syspath_prepend(tmp_path / "there")
    plugins.installed_plugins.cache_clear()
    try:
        tagger = load_tagger("shouting")
        assert "shouting" in list_taggers()
    finally:
        plugins.installed_plugins.cache_clear()
        sys.modules.pop("shouting", None)
    words = tagger.examples()[0].tokens
    assert viterbi(tagger.potentials(words)).path == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("setting", ["{folder}", "shouting:Shouting"])
def test_documented_plugin_is_loaded_by_the_setting(setting, tmp_path, monkeypatch):
    blocks_of_page = blocks("python", "docs/bring-your-own.md")
    module = next(block for block in blocks_of_page if block.startswith("# shouting.py"))
    (tmp_path / "shouting.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CRFVIZ_PLUGINS", setting.format(folder=tmp_path))
    try:
        tagger = load_tagger("Shouting" if ":" in setting else "shouting")
    finally:
        sys.modules.pop("shouting", None)
    assert tagger.tag("They said NO LOUDLY").tags == ["quiet", "quiet", "LOUD", "LOUD"]


def test_documented_settings_are_valid_toml():
    assert all(tomllib.loads(block) for name in GUIDES for block in blocks("toml", name))


def written_by_hand(name):
    """A document without the tables that programs write between markers."""
    return re.sub(r"<!-- ([\w-]+) -->\n.*?\n<!-- /\1 -->\n", "", TEXTS[name], flags=re.DOTALL)


def sentences(name):
    """The sentences of paragraphs and lists; code counts as one word, and so does a link."""
    text = re.sub(r"```.*?```", "", written_by_hand(name), flags=re.DOTALL)
    lines = [re.sub(r"^(- |\d+\. )", "\n\n", line) for line in text.splitlines()]
    lines = [line for line in lines if not line.startswith(("|", "#", "!"))]
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", block.replace("\n", " ")))
        yield from re.split(r"(?<=[.!?:;])\s| – ", plain)


def test_documents_are_short():
    docs = [name for name in GUIDES if name.startswith("docs/")]
    assert sum(len(written_by_hand(name).splitlines()) for name in docs) <= 1690
    assert len(TEXTS["README.md"].splitlines()) <= 110
    files = ROOT.glob("benchmarks/*.py")
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= 2740


@pytest.mark.parametrize("name", [*GUIDES, "CHANGELOG.md"])
def test_sentences_have_at_most_25_words(name):
    assert [each for each in sentences(name) if len(each.split()) > 25] == []


def test_newest_changelog_release_is_the_package_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    releases = re.findall(r"^## \[(\d[\d.]*)\]", TEXTS["CHANGELOG.md"], re.MULTILINE)
    assert releases[0] == project["version"] == crfviz.__version__
