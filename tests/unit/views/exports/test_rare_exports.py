"""Exported files have rare names as they are, and the numbers of NumPy's recursion."""

import csv
import io
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import crfviz
from crfviz.chain.edits import END, START
from crfviz.views.exports.live import Live
from crfviz.views.exports.notebook import show
from crfviz.views.exports.python_file import script
from crfviz.views.exports.tables import FORMATS, number, tex
from crfviz.views.exports.worksheet import worksheet_files
from tests.support.rare_names import rare_chain, seed_of_commit
from tests.unit.views.exports.test_rare_names import numpy_sums

SEEDS = [seed_of_commit() + n for n in range(4)]
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))


class Tables(HTMLParser):
    """The cells of all tables of an HTML file, by the title before each."""

    def __init__(self, text):
        super().__init__()
        self.found, self.title, self.text = {}, "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, _attrs):
        if tag in ("h2", "td", "th"):
            self.end()
            self.text = ""
        if tag == "table":
            self.found[self.title] = []
        if tag == "tr":
            self.end()
            self.found[self.title].append([])
        self.inside = tag

    def handle_endtag(self, tag):
        if tag == "h2":
            self.title, self.text = self.text, None
        elif tag in ("table", "tr", "td", "th"):
            self.end()

    def end(self):
        if self.text is not None:
            self.found[self.title][-1].append(self.text)
            self.text = None

    def handle_data(self, data):
        if self.text is not None:
            self.text += data.replace("\xa0\xa0", "  ")  # how pandas keeps several blanks


def expected(chain):
    tables = [
        table.numpy() for table in (chain.emissions, chain.transitions, chain.start, chain.end)
    ]
    return numpy_sums(*tables)


def numbers(rows):
    """Return the numbers of a table; NaN for START to END."""
    read = lambda cell: float(cell.replace("−", "-").replace("–", "nan"))  # noqa: E731
    return [[read(cell) for cell in row[1:]] for row in rows[1:]]


def assert_live_file(text, chain):
    tables = Tables(text).found
    _, marginals = expected(chain)
    head, *rows = tables["marginals"]
    assert head == ["", *(f"{t} {word}" for t, word in enumerate(chain.tokens, 1))]
    assert [row[0] for row in rows] == list(chain.tags)
    np.testing.assert_allclose(np.array(numbers([head, *rows])).T, marginals, atol=6e-5)
    moves = tables["transitions, from the row to the column (nats)"]
    assert moves[0] == ["", *chain.tags, END]
    assert [row[0] for row in moves[1:]] == [START, *chain.tags]
    np.testing.assert_allclose([row[:-1] for row in numbers(moves)[1:]], chain.transitions)
    decoders = tables["What each decoder chooses"]
    best = crfviz.viterbi(chain).names
    assert next(row[1:] for row in decoders if row[0].startswith("Viterbi")) == best
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    data = json.loads(block)
    assert (data["tags"], data["words"]) == (list(chain.tags), list(chain.tokens))


@each_seed
def test_live_file_and_notebook(tmp_path, seed):
    chain = rare_chain(seed)
    crfviz.export_html(chain, tmp_path / "a.html")
    assert_live_file((tmp_path / "a.html").read_text("utf-8"), chain)


@each_seed
def test_python_file_makes_the_same_chain(seed):
    chain = rare_chain(seed)
    place = {
        "pins": {1: chain.tags[2]},
        "edits": crfviz.Edits({(chain.tags[0], END): 1.5}, {(0, chain.tags[1]): -2.0}),
    }
    names = {}
    exec(script(Live(chain, **place)), names)
    made, wanted = names["potentials"], place["edits"].apply(chain).pin(place["pins"])
    assert (made.tags, made.tokens) == (chain.tags, chain.tokens)
    for one, other in zip(made.arrays(), wanted.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


@each_seed
@pytest.mark.parametrize("form", list(FORMATS))
def test_tables(tmp_path, seed, form):
    chain = rare_chain(seed)
    _, marginals = expected(chain)
    path = tmp_path / f"a{form}"
    crfviz.export_table(chain, path, digits=6)
    text = path.read_text("utf-8")
    if form == ".csv":
        rows = [*csv.reader(io.StringIO(text))]
        assert [row[0] for row in rows[1:]] == list(chain.tags)
        np.testing.assert_allclose(np.array(numbers(rows)).T, marginals, atol=1e-6)
        return
    body = text.splitlines()
    for k, tag in enumerate(chain.tags):
        shown = [number(p, 6) if form == ".tex" else f"{p:.6f}" for p in marginals[:, k]]
        line = next(
            line
            for line in body
            if line.endswith(
                {".tex": " & ".join(shown) + r" \\", ".md": " | ".join(shown) + " |"}[form]
            )
        )
        if form == ".tex":
            assert tex(tag) in line
        else:
            name = re.sub(
                r"\\(.)", r"\1", line.removeprefix("| ")[: -len(" | ".join(shown) + " |") - 3]
            )
            assert name == " ".join(tag.split())


@pytest.mark.parametrize("table", ["marginals", "transitions"])
def test_latex_needs_booktabs_alone(tmp_path, table):
    tags = ["[CLS]", "*", "שם", "$,", "名词"]
    zeros = [[0.0] * len(tags)] * 3
    words = ["*", "[x]", "שם"]
    chain = crfviz.Potentials(zeros, [zeros[0]] * len(tags), tags=tags, tokens=words)
    path = tmp_path / "a.tex"
    crfviz.export_table(chain, path, table=table, digits=1)
    text = path.read_text("utf-8")
    used = {*re.findall(r"\\(crfviz[a-z]+)", text)}
    assert used <= {*re.findall(r"\\(?:provide|new)command\{?\\(crfviz[a-z]+)", text)}
    rows = [row.lstrip() for row in re.split(r"\\\\(?!\w)", text)[1:]]
    assert len(rows) > len(tags)
    assert not any(row.startswith(("[", "*")) for row in rows)  # an option of the row before


@each_seed
def test_worksheet(seed):
    chain = rare_chain(seed)
    files = worksheet_files(chain, "student-1", "x")
    tables = Tables(files["keys/student-1/worksheet.html"]).found
    title = next(title for title in tables if title.startswith("α"))
    alpha = crfviz.forward_backward(chain).log_alpha
    assert tables[title][0] == ["", *chain.tags]
    assert [row[0] for row in tables[title][1:]] == [
        f"{t} {word}" for t, word in enumerate(chain.tokens, 1)
    ]
    np.testing.assert_allclose(numbers(tables[title]), alpha, atol=6e-5)
    answers = dict(row for row in tables["Paths and log Z"][1:])
    assert answers["best path"] == " ".join(crfviz.viterbi(chain).names)
    rule = next(title for title in tables if title.startswith("The rule "))
    assert rule
    notebook = json.loads(files["keys/student-1/worksheet.ipynb"])
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(cell["source"], names)
    assert names["potentials"].tags == chain.tags
    for path, text in files.items():
        if path.endswith("/grade.py"):
            compile(text, path, "exec")


@each_seed
def test_shown_in_a_notebook(seed):
    chain = rare_chain(seed)
    frame = show(chain)._repr_html_()
    assert "<iframe" in frame
    inner = re.search(r'srcdoc="([^"]*)"', frame)
    assert inner
    assert_live_file(unescape(inner[1]), chain)
