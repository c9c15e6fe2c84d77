"""Worksheets: pages, keys, and the tests of three graders, run on right and wrong programs."""

import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import jsonschema
import nbformat
import numpy as np
import pytest

from crfviz.__main__ import main
from crfviz.commands.worksheet import variants
from crfviz.views.exports.tables import compiled
from crfviz.views.exports.worksheet import TASKS, worksheet_files
from tests.support.peers import load
from tests.support.student import Student

CHAIN = variants(7, 1)[0]
FILES = worksheet_files(CHAIN, "student-1", "an/image")
HEAD = "import numpy as np\n"
INFO_SCHEMA = {  # the part of PrairieLearn's schema of info.json that such a question uses
    "type": "object",
    "additionalProperties": False,
    "required": ["uuid", "type", "title", "topic"],
    "properties": {
        "uuid": {
            "type": "string",
            "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        },
        "type": {"enum": ["v3"]},
        "title": {"type": "string"},
        "topic": {"type": "string"},
        "singleVariant": {"type": "boolean"},
        "gradingMethod": {"enum": ["Internal", "External", "Manual"]},
        "externalGradingOptions": {
            "type": "object",
            "additionalProperties": False,
            "required": ["image", "entrypoint"],
            "properties": {
                "enabled": {"type": "boolean"},
                "image": {"type": "string"},
                "entrypoint": {"type": "string"},
                "timeout": {"type": "integer", "maximum": 600},
            },
        },
    },
}


def solutions():
    """The functions of the key, as its notebook has them."""
    cells = json.loads(FILES["keys/student-1/worksheet.ipynb"])["cells"]
    return "\n\n".join(cell["source"] for cell in cells if cell["metadata"]["nbgrader"]["solution"])


def functions(code):
    names = {"np": np}
    exec(code, names)
    return {table: names[table] for table in TASKS}


def test_key_has_the_numbers_of_an_independent_program():
    page = FILES["keys/student-1/worksheet.html"]
    for table in ("alpha", "beta"):
        for row in Student(CHAIN).table(table):
            for value in row:
                assert f"<td>{value:.4f}</td>".replace("-", "−") in page
    empty = FILES["student-1/worksheet.html"]
    assert empty.count("<td></td>") > 48
    assert f"{Student(CHAIN).table('alpha')[1][0]:.4f}".replace("-", "−") not in empty


def listed(chain, rule):
    """The paths of a chain, then those whose tags the rule describes; the best first."""
    e, w, start, end = (table.tolist() for table in chain.scores())
    pattern, paths = re.compile(rule.replace(" ", "")), []  # tags are single letters
    for path in itertools.product(range(3), repeat=4):
        score = start[path[0]] + end[path[-1]] + sum(e[t][k] for t, k in enumerate(path))
        score += sum(w[j][k] for j, k in itertools.pairwise(path))
        paths.append((score, "".join(chain.tags[k] for k in path)))
    paths.sort(reverse=True)
    return paths, [(score, tags) for score, tags in paths if pattern.fullmatch(tags)]


def question(page):
    """The rule of a page, and the answers by name."""
    rule, table = re.search(r"<h2>The rule (.*): [^:]+</h2>(.*?)</table>", page, re.DOTALL).groups()
    return rule, dict(re.findall(r"<th>([^<]+)</th>\s*<td>(.*?)</td>", table))


def test_rule_question_has_one_answer_equal_to_enumeration():
    rules = set()
    for chain in variants(7, 12):
        files = worksheet_files(chain, "student-1", "an/image")
        rule, answers = question(files["keys/student-1/worksheet.html"])
        paths, matching = listed(chain, rule)
        cost = paths[0][0] - matching[0][0]
        assert cost >= 0.5
        assert matching[0][0] > matching[1][0]
        mass, every = (sum(math.exp(score) for score, _ in some) for some in (matching, paths))
        assert answers == {
            "best path that matches": " ".join(matching[0][1]),
            "price in nats": f"{cost:.1f}",
            "P(rule)": f"{mass / every:#.4g}",
        }
        assert question(files["student-1/worksheet.html"]) == (rule, dict.fromkeys(answers, ""))
        assert question(files["student-1/prairielearn/question.html"])[0] == rule
        rules.add(rule)
    assert len(rules) > 3


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs LaTeX")
@pytest.mark.parametrize("folder", ["student-1", "keys/student-1"])
def test_latex_compiles(folder):
    assert compiled(FILES[f"{folder}/worksheet.tex"]).startswith(b"%PDF")


@pytest.mark.parametrize("folder", ["student-1", "keys/student-1"])
def test_notebooks_are_valid_and_have_nbgrader_metadata(folder):
    notebook = nbformat.reads(FILES[f"{folder}/worksheet.ipynb"], as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        own = cell.metadata.nbgrader
        assert own.keys() - {"points"} == {
            "schema_version", "grade_id", "grade", "solution", "locked", "task",
        }  # fmt: skip
        assert own.schema_version == 3
        assert ("points" in own) == own.grade
        assert own.locked != own.solution
    names = [cell.metadata.nbgrader.grade_id for cell in notebook.cells]
    assert len(set(names)) == len(names)
    assert ("BEGIN SOLUTION" in FILES[f"{folder}/worksheet.ipynb"]) == folder.startswith("keys")


def test_nbgrader_accepts_the_metadata():
    v3 = load("nbgrader.nbgraderformat.v3", absent=())
    for folder in ("student-1", "keys/student-1"):
        notebook = nbformat.reads(FILES[f"{folder}/worksheet.ipynb"], as_version=4)
        v3.MetadataValidatorV3().validate_nb(notebook)


def test_key_notebook_passes_and_the_worksheet_raises_not_implemented():
    for folder, works in (("keys/student-1", True), ("student-1", False)):
        cells = json.loads(FILES[f"{folder}/worksheet.ipynb"])["cells"]
        names = {}
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        if works:
            exec("\n".join(code), names)
        else:
            with pytest.raises(AssertionError, match="NotImplementedError"):
                exec("\n".join(code), names)


@pytest.mark.parametrize("table", TASKS)
def test_otter_grader_runs_the_tests(tmp_path, monkeypatch, table):
    otter = load("otter", absent=())
    monkeypatch.chdir(tmp_path)  # it writes a log
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / f"{table}.py").write_text(FILES[f"student-1/tests/{table}.py"], "utf-8")
    grader = otter.Notebook(tests_dir=str(tmp_path / "tests"))
    right = grader.check(table, global_env=functions(HEAD + solutions()))
    assert (right.passed_all, right.grade) == (True, 1.0)
    code = HEAD + solutions().replace("board.transitions", "board.transitions.T")
    wrong = grader.check(table, global_env=functions(code))
    assert (wrong.passed_all, wrong.grade) == (False, 0.0)
    assert "Likely bug: transposed matrix." in repr(wrong)


@pytest.mark.parametrize("table", TASKS)
def test_otter_files_name_their_table(table):
    code = FILES[f"student-1/tests/{table}.py"]
    compile(code, table, "exec")
    assert f'name = "{table}"' in code


@pytest.fixture
def prairielearn(tmp_path, monkeypatch):
    """What the external grader writes for a solution."""

    def results(solution, run):
        (tmp_path / "student").mkdir()
        (tmp_path / "student" / "solution.py").write_text(solution, "utf-8")
        grader = str(tmp_path / "grade.py")
        Path(grader).write_text(FILES["student-1/prairielearn/tests/grade.py"], "utf-8")
        monkeypatch.setattr(sys, "argv", [grader, str(tmp_path)])
        run(grader)
        return json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))

    return results


def as_a_program(_):
    subprocess.run([sys.executable, *sys.argv], check=True, capture_output=True)


def test_prairielearn_gives_full_score_for_the_key(prairielearn):
    results = prairielearn(HEAD + solutions(), as_a_program)
    assert (results["gradable"], results["score"]) == (True, 1.0)
    assert [test["name"] for test in results["tests"]] == list(TASKS)
    assert all(test["message"].startswith("Right: all 12 cells") for test in results["tests"])


def test_prairielearn_reports_mistakes_with_messages(prairielearn):
    code = solutions().replace(" + board.emissions[t]", "", 1).partition("def backpointers")[0]
    results = prairielearn(HEAD + code, run_path)
    assert results["score"] == 0.5
    by_name = {test["name"]: test for test in results["tests"]}
    assert "Likely bug: emission left out." in by_name["alpha"]["message"]
    assert by_name["backpointers"]["message"] == "solution.py has no function backpointers"
    assert by_name["beta"] == {
        "name": "beta", "points": 1, "max_points": 1, "message": by_name["beta"]["message"],
    }  # fmt: skip


def test_prairielearn_does_not_grade_invalid_code(prairielearn):
    results = prairielearn("def alpha(board) pass", run_path)
    assert results["gradable"] is False
    assert "solution.py: " in results["format_errors"][0]


def test_prairielearn_accepts_the_question():
    info = json.loads(FILES["student-1/prairielearn/info.json"])
    jsonschema.validate(info, INFO_SCHEMA)
    assert info["externalGradingOptions"]["image"] == "an/image"
    question = FILES["student-1/prairielearn/question.html"]
    opened = re.findall(r"<(pl-[a-z-]+)", question)
    assert sorted(opened) == sorted(re.findall(r"</(pl-[a-z-]+)", question))


def test_worksheet_command_writes_a_folder_per_student(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["worksheet", "--seed", "7", "--students", "12", str(out)]) == 0
    assert "12 worksheets" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "keys", *(f"student-{n:02}" for n in range(1, 13)),
    ]  # fmt: skip
    first = (out / "student-01" / "worksheet.ipynb").read_text("utf-8")
    assert first.replace("student-01", "student-1") == FILES["student-1/worksheet.ipynb"]
    assert main(["worksheet", str(out)]) == 2
    assert "not empty" in capsys.readouterr().err
