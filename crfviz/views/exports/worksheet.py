"""A worksheet for one student: pages to print, a notebook, the key, and tests for three graders.

nbgrader reads the metadata of the notebook's cells (schema version 3). otter-grader runs the files
in `tests`. `prairielearn` is a question folder, whose external grader writes results.json. All of
them call `crfviz.grade`.
"""

import json
import re
from collections.abc import Mapping
from functools import partial
from html import escape
from inspect import cleandoc
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pandas as pd

from crfviz.chain.decoding.analysis import greedy
from crfviz.chain.decoding.viterbi import k_best, viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.homework.programs import ALPHA, BACKPOINTERS, BETA, VITERBI
from crfviz.chain.pattern_syntax import quoted
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.rules import match
from crfviz.views.exports.python_file import source_of
from crfviz.views.exports.tables import PREAMBLE, tex
from crfviz.views.formatting import score
from crfviz.views.strips.rules import rule_probability

TASKS = {
    ALPHA: "α(t, k): the log-sum of all prefixes that end in tag k at word t, emission included",
    BETA: "β(t, k): the log-sum of all ways to go on from tag k at word t, END included",
    VITERBI: "best(t, k): the score of the best prefix that ends in tag k at word t",
    BACKPOINTERS: "the tag before k on that best prefix",
}
SOLUTIONS = {
    ALPHA: """
        board.alpha[0] = board.start + board.emissions[0]
        for t in range(1, board.num_tokens):
            moves = board.alpha[t - 1][:, None] + board.transitions
            board.alpha[t] = np.logaddexp.reduce(moves, 0) + board.emissions[t]""",
    BETA: """
        board.beta[-1] = board.end
        for t in range(board.num_tokens - 2, -1, -1):
            after = board.emissions[t + 1] + board.beta[t + 1]
            board.beta[t] = np.logaddexp.reduce(board.transitions + after, 1)""",
    VITERBI: """
        board.best[0] = board.start + board.emissions[0]
        for t in range(1, board.num_tokens):
            moves = board.best[t - 1][:, None] + board.transitions
            board.best[t] = moves.max(0) + board.emissions[t]""",
    BACKPOINTERS: """
        best = board.start + board.emissions[0]
        for t in range(1, board.num_tokens):
            moves = best[:, None] + board.transitions
            board.backpointers[t] = moves.argmax(0)
            best = moves.max(0) + board.emissions[t]""",
}
RULES = {  # by pattern, in which 0 is a tag
    "[^ {0}]* {0} [^ {0}]*": "exactly one {0}",
    "{0} .*": "{0} first",
    ".* {0}": "{0} last",
}
_NEGATIVE = re.compile(r"−[\d.]+", re.ASCII)
_STYLE = (
    "body{font:16px serif;margin:2em}table{border-collapse:collapse;margin:.5em 0 1.5em}"
    "td,th{border:1px solid;padding:.3em .8em;min-width:3em;text-align:right}"
)

_QUESTION = """\
<pl-question-panel>
<p>Upload solution.py with the functions alpha, beta, viterbi and backpointers of a board.</p>
{tables}
<pl-file-upload file-names="solution.py"></pl-file-upload>
</pl-question-panel>
<pl-submission-panel><pl-external-grader-results></pl-external-grader-results></pl-submission-panel>
"""
_GRADER = '''\
#!/usr/bin/env python3
"""Grade solution.py and write results.json, as PrairieLearn's external graders do."""

import json
import runpy
import sys
from pathlib import Path

import crfviz

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else "/grade")
TABLES = {tables}
potentials = {source}


def graded(program, table):
    if program is None:
        return 0, f"solution.py has no function {{table}}"
    found = crfviz.grade(program, potentials, table)
    return int(found.correct), f"{{found.message}}\\n{{found.arithmetic}}".strip()


def results():
    try:
        functions = runpy.run_path(str(ROOT / "student" / "solution.py"))
    except Exception as error:
        return {{"gradable": False, "format_errors": [f"solution.py: {{error}}"]}}
    tests = []
    for table in TABLES:
        points, message = graded(functions.get(table), table)
        tests.append({{"name": table, "points": points, "max_points": 1, "message": message}})
    score = sum(test["points"] for test in tests) / len(tests)
    return {{"gradable": True, "score": score, "tests": tests}}


(ROOT / "results").mkdir(exist_ok=True)
(ROOT / "results" / "results.json").write_text(json.dumps(results()), encoding="utf-8")
'''


def worksheet_files(chain: Potentials, name: str, image: str) -> dict[str, str]:
    """Return the files of a student by path, the key in a folder of its own.

    Args:
        chain: a chain with words and tags.
        name: the student, such as student-01; the name of the folder.
        image: the Docker image with crfviz, for PrairieLearn.
    """
    files = {}
    for folder, key in ((name, False), (f"keys/{name}", True)):
        tables = _tables(chain, key=key)
        title = f"{'Key' if key else 'Worksheet'}: {name}"
        files[f"{folder}/worksheet.html"] = _html(title, tables)
        files[f"{folder}/worksheet.tex"] = _latex(title, tables)
        files[f"{folder}/worksheet.ipynb"] = _notebook(chain, title, key=key)
    source = source_of(chain)
    for table in TASKS:
        files[f"{name}/tests/{table}.py"] = _otter(source, table)
    identity = str(uuid5(NAMESPACE_URL, f"crfviz worksheet {name} {source}"))
    folder = f"{name}/prairielearn"
    files[f"{folder}/info.json"] = json.dumps(_info(name, identity, image), indent=2) + "\n"
    files[f"{folder}/question.html"] = _QUESTION.format(tables=_body(_tables(chain, key=False)))
    files[f"{folder}/tests/grade.py"] = _GRADER.format(source=source, tables=list(TASKS))
    return files


def _tables(chain: Potentials, *, key: bool) -> dict[str, pd.DataFrame]:
    """Return the scores, then the tables to fill in, or filled in, by title."""
    tags = list(chain.tag_names)
    words = [f"{t + 1} {word}" for t, word in enumerate(chain.tokens or ())]

    def table(values: Any, rows: list[str], digits: int) -> pd.DataFrame:  # noqa: ANN401 - numbers
        return pd.DataFrame(values, rows, tags).map(partial(score, digits=digits))

    emissions, transitions, start, end = chain.scores()
    sums, best = forward_backward(chain), viterbi(chain)
    filled = {
        ALPHA: table(sums.log_alpha, words, 4),
        BETA: table(sums.log_beta, words, 4),
        VITERBI: table(best.best, words, 1),
        BACKPOINTERS: pd.DataFrame(best.backpointers.numpy(), words, tags).map(
            lambda tag: tags[tag] if tag >= 0 else "–"
        ),
    }
    paths = {
        "independent": greedy(chain, "independent"),
        "greedy": greedy(chain, "left_to_right"),
        "best path": best.path,
    }
    answers = {name: " ".join(tags[k] for k in path) for name, path in paths.items()}
    answers["log Z"] = score(sums.log_partition, 4)
    questions = {TASKS[name]: frame for name, frame in filled.items()}
    questions["Paths and log Z"] = pd.DataFrame({"answer": answers})
    rule, name = _rule(chain)
    matching = match(chain, rule)
    under_rule = {
        "best path that matches": " ".join(tags[k] for k in matching.path),
        "price in nats": score(matching.cost, 1),
        "P(rule)": rule_probability(matching),
    }
    questions[f"The rule {rule}: {name}"] = pd.DataFrame({"answer": under_rule})
    return {
        "Emissions e": table(emissions, words, 1),
        "Transitions w: from the row to the column": table(transitions, tags, 1),
        "START and END": table([start, end], ["START", "END"], 1),
        **{title: frame if key else frame.map(lambda _: "") for title, frame in questions.items()},
    }


def _rule(chain: Potentials) -> tuple[str, str]:
    """Return a rule, and its name: the best path breaks it, and one path matches it best."""

    def is_unfit(named: tuple[str, str]) -> bool:
        matching = k_best(chain.constrained(named[0]), 2)
        return match(chain, named[0]).cost == 0.0 or matching[0].score == matching[-1].score

    tags = list(map(quoted, chain.tag_names))
    rules = ((rule.format(tag), name.format(tag)) for rule, name in RULES.items() for tag in tags)
    return min(rules, key=is_unfit)


def _body(tables: Mapping[str, pd.DataFrame]) -> str:
    return "\n".join(
        f"<h2>{escape(title)}</h2>\n{frame.to_html(border=0)}" for title, frame in tables.items()
    )


def _html(title: str, tables: Mapping[str, pd.DataFrame]) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{_body(tables)}\n</body></html>\n"
    )


def _latex(title: str, tables: Mapping[str, pd.DataFrame]) -> str:
    parts = []
    for heading, frame in tables.items():
        rows = [["", *frame.columns], *frame.reset_index().to_numpy().tolist()]
        lines = " \\\\ \\hline\n".join(" & ".join(map(_tex, row)) for row in rows)
        columns = "|".join("r" * len(rows[0]))
        parts.append(
            f"\\subsection*{{{_tex(heading)}}}\n\\begin{{tabular}}{{|{columns}|}}\\hline\n{lines} "
            "\\\\ \\hline\n\\end{tabular}\n"
        )
    return (
        f"\\documentclass{{article}}\n{PREAMBLE}\\begin{{document}}\n\\section*{{{_tex(title)}}}\n"
        f"{''.join(parts)}\\end{{document}}\n"
    )


def _tex(text: str) -> str:
    return f"${text.replace('−', '-')}$" if _NEGATIVE.fullmatch(text) else tex(text)


def _notebook(chain: Potentials, title: str, *, key: bool) -> str:
    cells = [
        _cell("markdown", "intro", f"# {title}\n\nFill each table of the board."),
        _cell(
            "code", "chain", f"import numpy as np\nimport crfviz\n\npotentials = {source_of(chain)}"
        ),
    ]
    for table, what in TASKS.items():
        body = "    raise NotImplementedError"
        if key:
            solution = "\n".join(f"    {line}" for line in cleandoc(SOLUTIONS[table]).splitlines())
            body = f"    ### BEGIN SOLUTION\n{solution}\n    ### END SOLUTION"
        code = f"def {table}(board):\n    # {what}\n{body}"
        cells.append(_cell("code", table, code, solution=True))
        test = f'found = crfviz.grade({table}, potentials, "{table}")\n'
        test += "assert found.correct, found.message"
        cells.append(_cell("code", f"test_{table}", test, points=1))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5},
        indent=1,
    )


def _cell(
    kind: str, name: str, text: str, *, solution: bool = False, points: int | None = None
) -> Mapping[str, Any]:
    own: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": name,
        "grade": points is not None,
        "solution": solution,
        "locked": not solution,
        "task": False,
    }
    if points is not None:
        own["points"] = points
    cell = {"cell_type": kind, "id": name, "metadata": {"nbgrader": own}, "source": text}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def _otter(source: str, table: str) -> str:
    return (
        "import crfviz\nfrom otter.test_files import test_case\n\n"
        f'OK_FORMAT = False\nname = "{table}"\npoints = 1\n\npotentials = {source}\n\n\n'
        f"@test_case(points=1, hidden=False)\ndef test_{table}({table}):\n"
        f'    found = crfviz.grade({table}, potentials, "{table}")\n'
        "    assert found.correct, found.message\n"
    )


def _info(name: str, identity: str, image: str) -> Mapping[str, Any]:
    return {
        "uuid": identity,
        "title": f"CRF tables: {name}",
        "topic": "Linear-chain CRFs",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": image,
            "entrypoint": "/grade/tests/grade.py",
            "timeout": 60,
        },
    }
