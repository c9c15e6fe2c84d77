"""The README's Python runs as it stands, and its commands and pages exist."""

import contextlib
import io
import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from crfviz.__main__ import main
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.exceptions import FormatError
from crfviz.taggers.plugins import plugins
from crfviz.taggers.registry import list_taggers, load_tagger
from crfviz.ui.panels.bring import EXAMPLE
from crfviz.ui.shell.frame import PAGES
from tests.brought import understand

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_readme_code_runs():
    code = blocks("python")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert "VERB" in printed.getvalue()


def test_every_page_is_in_the_readme():
    for _script, title, path in PAGES:
        assert f"| {title} | `/{path}` |" in README


def test_every_command_of_the_readme_is_one(capsys):
    commands = set(re.findall(r"^python -m crfviz (\w+)", README, flags=re.MULTILINE))
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    listed = set(re.findall(r"^  (\w+)  ", printed.split("commands:")[1], flags=re.MULTILINE))
    assert commands == listed


def test_the_example_of_scores_fits_its_schema_and_is_that_of_the_page():
    (example,) = blocks("json")
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
def test_what_does_not_fit_the_schema_is_refused(wrong):
    schema = json.loads((ROOT / "docs" / "potentials.schema.json").read_text())
    wrong = {"transitions": [[0]], **wrong}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)
    with pytest.raises(FormatError):
        understand(("scores.json", json.dumps(wrong).encode()))


def test_the_plug_in_of_the_readme_is_a_tagger(tmp_path, monkeypatch):
    module, project = blocks("python")[1], next(b for b in blocks("toml") if "entry-points" in b)
    assert len(module.strip().splitlines()) <= 15
    (tmp_path / "shouting.py").write_text(module)
    points = tomllib.loads(project)["project"]["entry-points"]["crfviz.taggers"]
    info = tmp_path / "shouting-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1\n")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[crfviz.taggers]", *lines]))
    monkeypatch.syspath_prepend(tmp_path)
    plugins.cache_clear()
    try:
        tagger = load_tagger("shouting")
        assert "shouting" in list_taggers()
    finally:
        plugins.cache_clear()
    words = tagger.examples()[0].tokens
    assert viterbi(tagger.potentials(words)).path == [1, 1, 0, 0, 1]
