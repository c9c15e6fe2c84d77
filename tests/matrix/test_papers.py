"""What papers take: TikZ, tables and the script; words are text in all of them."""

import contextlib
import csv
import io
import math
import re
import shutil
import subprocess
import zlib
from dataclasses import replace

import pytest

import crfviz
from crfviz.chain.edits import Edits
from crfviz.views.exports import tables
from crfviz.views.exports.live import Live, Origin
from crfviz.views.exports.python_file import script
from crfviz.views.exports.tables import number, tex
from tests.support.rare_names import NAMES, rare_chain, seed_of_commit

HOSTILE = r"50%_{x}\$^~&#\input{secret}"
WORDS = (HOSTILE, "ключ 中 é “q” – ``--", "<b>|α→'")
PICTURES = ("lattice", "trellis", "transitions", "sweeps")
ENGINES = [name for name in ("pdflatex", "lualatex") if shutil.which(name)]


def chain():
    return crfviz.Potentials(
        [[1.0, 0.5], [0, 2.0], [1, 1]],
        [[0.3, -1], [-math.inf, 0]],
        tags=["A_B", "C&D#"],
        tokens=WORDS,
    )


def written(tmp_path, picture, **options):
    path = tmp_path / f"{picture}.tex"
    crfviz.export_tikz(chain(), path, picture=picture, **options)
    return path.read_text("utf-8")


def test_tex_escapes_commands():
    assert tex(HOSTILE) == (
        r"50\%\_\{x\}\textbackslash{}\$\textasciicircum{}\textasciitilde{}\&\#"
        r"\textbackslash{}input\{secret\}"
    )
    assert tex("中é\n") == r"\crfvizsign{4E2D}é "


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1.234, "$-1.23$"), (-0.001, "$0.00$"), (-math.inf, r"$-\infty$"), (math.nan, "--")],
)
def test_number_is_formatted_for_latex(value, expected):
    assert number(value, 2) == expected


@pytest.mark.parametrize("picture", PICTURES)
def test_picture_is_a_complete_latex_document(tmp_path, picture):
    text = written(tmp_path, picture)
    assert r"\input" not in text
    assert text.startswith(r"\documentclass[border=4pt]{standalone}")
    body = text.partition(r"\begin{document}")[2]
    for name in ("tikzpicture", "document"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1
    plain = re.sub(r"\\[\\{}]", "", body)
    assert plain.count("{") == plain.count("}")


def test_trellis_has_the_numbers_of_its_step(tmp_path):
    best = crfviz.viterbi(chain())
    text = written(tmp_path, "trellis", position=2, digits=3)
    tag = best.path[2]
    for value in (best.best[1, 0], best.best[2, tag], chain().transitions[0, tag]):
        assert number(value.item(), 3) in text


def test_tag_names_do_not_overlap_symbols(tmp_path):
    text = written(tmp_path, "sweeps")
    places = re.findall(r"anchor=east\] at \((-[\d.]+),[^)]*\) \{(\$?)", text)
    names = {float(x) for x, dollar in places if not dollar}
    symbols = {float(x) for x, dollar in places if dollar}
    assert max(names) <= min(symbols) - 0.95  # centimetres that “log α” takes


@pytest.mark.skipif(not ENGINES, reason="neither pdflatex nor lualatex on this machine")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [*PICTURES, "table"])
def test_every_picture_and_table_compiles(tmp_path, engine, name):
    if name == "table":
        crfviz.export_table(chain(), tmp_path / "rows.tex")
        (tmp_path / "table.tex").write_text(
            r"\documentclass{article}\usepackage{booktabs}"
            r"\begin{document}\input{rows}\end{document}"
        )
    else:
        written(tmp_path, name)
    command = [engine, "-no-shell-escape", "-interaction=batchmode", "-halt-on-error", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, (tmp_path / f"{name}.log").read_text("latin-1")[-800:]
    assert (tmp_path / f"{name}.pdf").stat().st_size > 1000


@pytest.mark.skipif(not ENGINES, reason="neither pdflatex nor lualatex on this machine")
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_of_rare_names_compile_with_booktabs_alone(tmp_path, engine):
    tags = list(dict.fromkeys(["[CLS]", "*", "名词", "[", "*a*", *NAMES]))
    zeros = [[0.0] * len(tags)] * 3
    chain = crfviz.Potentials(zeros, [zeros[0]] * len(tags), tags=tags, tokens=["*", "[x]", "שם"])
    crfviz.export_table(chain, tmp_path / "first.tex", digits=1)
    crfviz.export_table(rare_chain(seed_of_commit()), tmp_path / "second.tex", table="transitions")
    (tmp_path / "rows.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs}\begin{document}"
        r"\input{first}\input{second}\end{document}"
    )
    command = [engine, "-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "rows"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, (tmp_path / "rows.log").read_text("latin-1")[-800:]


def test_first_cell_is_no_option_of_the_row_before():
    lines = tables.as_latex([["", "a"], ["[CLS]", 1.0], ["*", 2.0]], 1).splitlines()
    assert lines[-4:-1] == [r"{}[CLS] & $1.0$ \\", r"{}* & $2.0$ \\", r"\bottomrule"]


@pytest.mark.parametrize("table", ["transitions", "marginals"])
def test_csv_of_rare_names_is_read_back(tmp_path, table):
    chain = rare_chain(seed_of_commit(), num_tags=20)
    path = tmp_path / "x.csv"
    crfviz.export_table(chain, path, table=table, digits=12)
    head, *rows = csv.reader(io.StringIO(path.read_text("utf-8")))
    names = [*chain.tag_names]
    if table == "marginals":
        assert head == ["", *(f"{t} {word}" for t, word in enumerate(chain.tokens, 1))]
        assert [row[0] for row in rows] == names
        return
    assert (head, [row[0] for row in rows]) == (["", *names, "END"], ["START", *names])
    numbers = [[float(cell) for cell in row[1:-1]] for row in rows[1:]]
    assert numbers == chain.transitions.tolist()


@pytest.mark.skipif(not ENGINES, reason="neither pdflatex nor lualatex on this machine")
def test_pdf_contains_its_fonts(tmp_path):
    path = tmp_path / "lattice.pdf"
    crfviz.export_tikz(crfviz.Potentials([[1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]), path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    packed = re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)endstream", content, re.DOTALL)
    assert any(b"/FontFile" in zlib.decompressobj().decompress(part) for part in packed)
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    ("engine", "expected"),
    [(None, "needs pdflatex or lualatex"), ("false", "false does not compile")],
)
def test_missing_latex_engine_is_reported(tmp_path, monkeypatch, engine, expected):
    found = engine and shutil.which(engine)
    monkeypatch.setattr(tables.shutil, "which", lambda _: found)
    with pytest.raises(crfviz.CrfvizError, match=expected):
        crfviz.export_tikz(chain(), tmp_path / "x.pdf")
    assert not [*tmp_path.iterdir()]


def test_csv_is_read_back(tmp_path):
    path = tmp_path / "x.csv"
    crfviz.export_table(chain(), path, table="transitions", digits=12)
    head, *rows = csv.reader(io.StringIO(path.read_text("utf-8")))
    assert head == ["", "A_B", "C&D#", "END"]
    assert [row[0] for row in rows] == ["START", "A_B", "C&D#"]
    numbers = [[float(cell) for cell in row[1:3]] for row in rows[1:]]
    assert numbers == chain().transitions.tolist()
    assert rows[0][3] == ""  # START to END is no move


@pytest.mark.parametrize("table", ["marginals", "alpha", "beta", "best", "emissions"])
def test_markdown_table_has_a_row_per_tag(tmp_path, table):
    path = tmp_path / "x.md"
    crfviz.export_table(chain(), path, table=table, digits=1)
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}


def test_decoder_table_has_tag_names(tmp_path):
    path = tmp_path / "x.csv"
    crfviz.export_table(chain(), path, table="decoders")
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8"))))
    path_names = [chain().tag_names[tag] for tag in crfviz.viterbi(chain()).path]
    assert ["Viterbi", *path_names] in rows


@pytest.mark.parametrize(
    ("call", "name", "options", "expected"),
    [
        (crfviz.export_tikz, "x.tex", {"picture": "photo"}, "picture must be one of"),
        (crfviz.export_tikz, "x.tex", {"picture": "trellis", "position": 0}, "1 to 2, got 0"),
        (crfviz.export_tikz, "x.tex", {"picture": "trellis", "position": 3}, "1 to 2, got 3"),
        (crfviz.export_tikz, "x.tex", {"digits": 99}, "digits must be"),
        (crfviz.export_tikz, "x.tex", {"direction": "up"}, "direction must be ltr or rtl"),
        (crfviz.export_table, "x.csv", {"table": "chairs"}, "table must be one of"),
        (crfviz.export_table, "x.doc", {}, r"expected a \.csv, \.md or \.tex file"),
    ],
)
def test_invalid_export_is_rejected(tmp_path, call, name, options, expected):
    with pytest.raises(crfviz.CrfvizError, match=expected):
        call(chain(), tmp_path / name, **options)


@pytest.mark.parametrize("shipped", [True, False])
def test_script_gives_the_numbers_of_the_screen(shipped):
    sentence = "These look fine to me ."
    tagger = crfviz.load_tagger("upos-en-contextfree")
    live = Live(
        tagger.potentials(tagger.split(sentence)) if shipped else chain(),
        Edits({("PRON", "VERB"): -1.8}, {(1, "X"): -math.inf}, 0.5) if shipped else Edits(),
        {2: "ADJ"} if shipped else {},
        origin=Origin("upos-en-contextfree", sentence) if shipped else Origin(),
    )
    printed, names = io.StringIO(), {}
    code = script(live)
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "script", "exec"), names)
    now = live.now
    assert names["best"].path == now.viterbi.path
    assert names["best"].score == now.viterbi.score
    assert names["sums"].log_partition == now.forward_backward.log_partition
    assert names["sums"].marginals.equal(now.forward_backward.marginals)
    assert str(now.forward_backward.log_partition) in printed.getvalue()
    if shipped:
        assert len(code.splitlines()) <= 13


@pytest.mark.parametrize("picture", ["lattice", "trellis", "sweeps"])
def test_right_to_left_sentence_is_mirrored(tmp_path, picture):
    words = ("הילד", "הלך", "7")
    right = replace(chain(), tokens=words)
    left = replace(chain(), tokens=("a", "b", "7"))
    texts = [
        crfviz.export_tikz(each, tmp_path / "a.tex", picture=picture).read_text()
        for each in (left, right)
    ]
    heads = [_heads(text) for text in texts]
    assert heads[0] == sorted(heads[0])
    assert heads[1] == [-x for x in heads[0]]
    assert rf"\textbf{{{tex('הילד')}}}" in texts[1]
    assert tex("הילד").startswith(r"\crfvizrtl{")
    assert [text.count("anchor=west") for text in texts] == [
        text.count("anchor=east") for text in texts[::-1]
    ]


@pytest.mark.parametrize("picture", ["lattice", "trellis", "sweeps"])
def test_chosen_direction_overrides_the_sentence(tmp_path, picture):
    def heads(direction):
        path = tmp_path / f"{direction}.tex"
        return _heads(
            crfviz.export_tikz(chain(), path, picture=picture, direction=direction).read_text()
        )

    assert heads("rtl") == [-x for x in heads("ltr")]
    assert heads("ltr") == heads("")


def _heads(text):
    return [float(x) for x in re.findall(r"\\node\[anchor=base\] at \(([-\d.]+),", text)]
