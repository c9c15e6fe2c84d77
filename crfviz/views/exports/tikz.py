"""Pictures for papers: documents of the class standalone, drawn by TikZ.

Letters: `T` tokens, `K` tags. Numbers are beside what they measure, and paths differ by width
and dashes, so a print without colours loses nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START, Edits, weight_matrix
from crfviz.chain.validation import whole_number
from crfviz.exceptions import CrfvizError
from crfviz.text.direction import LTR, RTL, runs_right_to_left
from crfviz.text.files import abbreviate_value, write_atomically
from crfviz.views.explanation import edit_list
from crfviz.views.exports.live import Live, What
from crfviz.views.exports.tables import PREAMBLE, compiled, edited, number, require_digits, tex
from crfviz.views.strips.pictures import tags_with_mass
from crfviz.views.theme import NEGATIVE, POSITIVE, tag_colours

COLUMN, ROW = 2.1, 0.72  # centimetres
FULL = 6.0  # nats; largest score at full colour in the matrix
NOTED = 0.05  # smallest marginal with its number beside it
TRELLIS_COLUMN = 5.0  # centimetres
SIGN = 1.0  # centimetres of “log α” with its margins
# Arguments: the sentence, position and digits of a picture, and 1, or -1 from right to left.
Draw = Callable[[Analysis, int, int, int], list[str]]


def export_tikz(
    what: What,
    path: str | PathLike[str],
    *,
    sentence: str | Sequence[str] | None = None,
    picture: str = "lattice",
    position: int = 1,
    digits: int = 2,
    direction: str = "",
    edits: Edits | None = None,
) -> Path:
    """Write a picture as a LaTeX document (packages standalone and tikz), and return its path.

    If pdflatex or lualatex is installed, it also writes the PDF, with embedded fonts.

    Args:
        what: potentials, best with their words, or a tagger.
        path: of the .tex file, or of a .pdf file.
        sentence: for a tagger its sentence, as typed or as words.
        picture: "lattice"; "trellis", the numbers of one step of Viterbi; "transitions", the
            matrix; "sweeps", the table of α and β.
        position: for a trellis, and for transitions that differ from step to step, the word that
            the step leads to, from 0.
        digits: decimals of all numbers.
        direction: of the columns, "ltr" or "rtl"; by default that of the sentence.
        edits: changes of the scores, applied first and listed below the picture.

    Raises:
        CrfvizError: it is not one of these, the edits do not fit, the file cannot be written, or
            a PDF is wanted where there is no LaTeX.
    """
    draw = PICTURES.get(picture)
    if draw is None:
        expected = ", ".join(PICTURES)
        raise CrfvizError(f"picture must be one of {expected}, got {abbreviate_value(picture)}")
    digits = require_digits(digits, 12)
    if direction not in ("", LTR, RTL):
        raise CrfvizError(f"direction must be ltr or rtl, got {abbreviate_value(direction)}")
    live = replace(edited(what, sentence, edits), direction=direction)
    drawn = _drawn(live, draw, position, digits)
    target = Path(path)
    content = compiled(drawn) if target.suffix.lower() == ".pdf" else drawn.encode()
    write_atomically(target, [content])
    return target


def tikz_of(live: Live, picture: str) -> str:
    """Return a picture of the edited chain of a screen as a LaTeX document.

    Raises:
        CrfvizError: the edits do not fit the chain.
    """
    return _drawn(live, PICTURES[picture], 1, 2)


def _drawn(live: Live, draw: Draw, position: int, digits: int) -> str:
    """Return a picture as a document, with the list of edits in a comment and below."""
    analysis = live.now
    way = -1 if runs_right_to_left(analysis.words, live.direction) else 1
    body = draw(analysis, position, digits, way)
    if listed := edit_list(live.edits, analysis.words):
        corner = "at (current bounding box.south west)"
        style = r"anchor=north west, font=\footnotesize, text width=8cm"
        body = [f"% {listed}", *body, rf"\node[{style}] {corner} {{{tex(listed)}}};"]
    return document(body, analysis)


def document(body: Sequence[str], analysis: Analysis) -> str:
    """Return TikZ lines as a standalone document, with a colour `tagN` for each tag."""
    colours = [
        rf"\definecolor{{tag{k}}}{{HTML}}{{{colour.lstrip('#').upper()}}}"
        for k, colour in enumerate(tag_colours(analysis.tags))
    ]
    signs = [
        rf"\definecolor{{{name}}}{{HTML}}{{{colour.lstrip('#').upper()}}}"
        for name, colour in (("above", POSITIVE), ("below", NEGATIVE))
    ]
    return "\n".join(
        [
            r"\documentclass[border=4pt]{standalone}",
            PREAMBLE + r"\usepackage{tikz}",
            *signs,
            *colours,
            r"\begin{document}",
            r"\begin{tikzpicture}[font=\small]",
            *body,
            r"\end{tikzpicture}",
            r"\end{document}",
            "",
        ]
    )


def lattice(analysis: Analysis, _position: int, digits: int, way: int) -> list[str]:
    """Return marginals as circles, backpointers, the best path, and greedy detours dashed."""
    rows = {k: row for row, k in enumerate(tags_with_mass(analysis))}
    marginals = analysis.forward_backward.marginals.tolist()
    start, end = _sides(way)

    def at(t: int, k: int) -> str:
        return f"({way * t * COLUMN:.2f},{-rows[k] * ROW:.2f})"

    def along(path: Sequence[int]) -> str:
        return " -- ".join(at(t, k) for t, k in enumerate(path))

    lines = _heads(analysis, 0.75, way) + [
        rf"\node[anchor={end}] at ({-0.55 * way},{-row * ROW:.2f}) "
        rf"{{\textbf{{{tex(analysis.tags[k])}}}}};"
        for k, row in rows.items()
    ]
    pointers = analysis.reached_backpointers.tolist()
    lines += [
        rf"\draw[black!30] {at(t - 1, column[k])} -- {at(t, k)};"
        for t, column in enumerate(pointers)
        for k in rows
        if column[k] in rows
    ]
    if analysis.left_to_right != analysis.paths["viterbi"]:
        lines.append(rf"\draw[thick,dashed,red!70!black] {along(analysis.left_to_right)};")
    if analysis.viterbi is not None:
        lines.append(rf"\draw[line width=1.6pt] {along(analysis.viterbi.path)};")
    nodes = (
        _node(at(t, k), k, column[k], digits, f"south {start}")
        for t, column in enumerate(marginals)
        for k in rows
    )
    return [*lines, *(line for node in nodes for line in node)]


def _node(place: str, k: int, marginal: float, digits: int, corner: str) -> list[str]:
    """Return a circle with the area of its marginal, and its number where it is large enough."""
    size = 1.0 + 9.0 * marginal**0.5
    shape = f"circle,draw,fill=tag{k}!70,inner sep=0pt,minimum size={size:.1f}pt"
    circle = rf"\node[{shape}] at {place} {{}};"
    number_beside = (
        rf"\node[anchor={corner},font=\scriptsize,inner sep=3pt] at {place} "
        rf"{{{number(marginal, digits)}}};"
    )
    return [circle, number_beside] if marginal >= NOTED else [circle]


def trellis(analysis: Analysis, position: int, digits: int, way: int) -> list[str]:
    """Return one Viterbi step: every way into the best tag of a word, with its numbers."""
    position = _require_position(analysis, position)
    best, chain = analysis.best, analysis.potentials
    rows = {k: row for row, k in enumerate(tags_with_mass(analysis))}
    target = int(best[position].argmax())
    if analysis.viterbi is not None:
        target = analysis.viterbi.path[position]
    pointer = int(analysis.reached_backpointers[position, target])
    step = chain.step(position - 1)[:, target].tolist()
    words = [tex(word) for word in analysis.words]
    start, end = _sides(way)
    target_x = way * (TRELLIS_COLUMN - 0.85)
    lines = [
        rf"\node[anchor=base] at ({x:.2f},0.7) {{\textbf{{{words[t]}}}}};"
        for x, t in ((0.0, position - 1), (way * TRELLIS_COLUMN, position))
    ]
    middle = -0.5 * (len(rows) - 1) * ROW * 1.4
    for k, row in rows.items():
        y = -row * ROW * 1.4
        name = rf"\textbf{{{tex(analysis.tags[k])}}} {number(best[position - 1, k].item(), digits)}"
        style = "line width=1.4pt" if k == pointer else "black!45"
        lines += [
            rf"\node[draw,rounded corners,fill=tag{k}!15] (from{k}) at (0,{y:.2f}) {{{name}}};",
            rf"\draw[{style},->] (from{k}.{end}) -- node[fill=white,text=black,inner sep=1pt,"
            rf"font=\scriptsize,pos=0.38] {{{number(step[k], digits)}}} "
            rf"({way * (TRELLIS_COLUMN - 0.9):.2f},{middle:.2f});",
        ]
    emission = number(chain.emissions[position, target].item(), digits)
    result = number(best[position, target].item(), digits)
    lines += [
        rf"\node[draw,rounded corners,fill=tag{target}!15,anchor={start}] at "
        rf"({target_x:.2f},{middle:.2f}) "
        rf"{{\textbf{{{tex(analysis.tags[target])}}} {result}}};",
        rf"\node[anchor=north {start},font=\scriptsize] at ({target_x:.2f},{middle - 0.35:.2f}) "
        rf"{{max (best + transition) + emission {emission}}};",
    ]
    return lines


def transitions(analysis: Analysis, position: int, digits: int, _way: int) -> list[str]:
    """Return the matrix from the row's tag to the column's, shaded by sign and size."""
    if not analysis.potentials.homogeneous:
        position = _require_position(analysis, position)
    matrix = weight_matrix(
        analysis.potentials, 0 if analysis.potentials.homogeneous else position - 1
    )
    finite = matrix[matrix.isfinite()].abs()
    full = min(FULL, finite.max().item()) if finite.numel() else 1.0
    sources, targets = [START, *analysis.tags], [*analysis.tags, END]
    width = 0.5 + 0.19 * (digits + 2)
    lines = [
        rf"\node[rotate=60,anchor=west] at ({j * width:.2f},0.45) {{\textbf{{{tex(name)}}}}};"
        for j, name in enumerate(targets)
    ]
    for i, name in enumerate(sources):
        y = -i * 0.55
        lines.append(
            rf"\node[anchor=east] at ({-0.55 * width:.2f},{y:.2f}) {{\textbf{{{tex(name)}}}}};"
        )
        for j, value in enumerate(matrix[i].tolist()):
            if value != value:  # START to END is no move
                continue
            share = round(60 * min(1.0, abs(value) / (full or 1.0)))
            fill = f"{'below' if value < 0 else 'above'}!{share}"
            lines.append(
                rf"\node[fill={fill},minimum width={width - 0.04:.2f}cm,minimum height=0.51cm,"
                rf"inner sep=0pt] at ({j * width:.2f},{y:.2f}) {{{number(value, digits)}}};"
            )
    return lines


def sweeps(analysis: Analysis, _position: int, digits: int, way: int) -> list[str]:
    """Return α above β at every word and tag, in nats, and log Z."""
    tables = analysis.forward_backward
    alpha, beta = tables.log_alpha.tolist(), tables.log_beta.tolist()
    width = 0.9 + 0.22 * (digits + 2)
    start, end = _sides(way)
    lines = [
        rf"\node[anchor=base] at ({way * t * width:.2f},0.5) {{\textbf{{{tex(word)}}}}};"
        for t, word in enumerate(analysis.words)
    ]
    for k, name in enumerate(analysis.tags):
        y = -k * 1.0
        before = 0.5 * width
        lines.append(
            rf"\node[anchor={end}] at ({-way * (before + SIGN):.2f},{y - 0.2:.2f}) "
            rf"{{\textbf{{{tex(name)}}}}};"
        )
        for down, symbol, table in ((0.0, r"\alpha", alpha), (0.4, r"\beta", beta)):
            lines.append(
                rf"\node[anchor={end}] at ({-way * before:.2f},{y - down:.2f}) "
                rf"{{$\log {symbol}$}};"
            )
            lines += [
                rf"\node at ({way * t * width:.2f},{y - down:.2f}) {{{number(row[k], digits)}}};"
                for t, row in enumerate(table)
            ]
    z = number(tables.log_partition, digits)
    foot = -len(analysis.tags) * 1.0
    place = f"({-0.5 * way * width:.2f},{foot:.2f})"
    return [*lines, rf"\node[anchor={start}] at {place} {{$\log Z$ = {z}}};"]


PICTURES: Mapping[str, Draw] = {
    "lattice": lattice,
    "trellis": trellis,
    "transitions": transitions,
    "sweeps": sweeps,
}


def _sides(way: int) -> tuple[str, str]:
    """Return the start and end anchors in the direction of the words."""
    return ("west", "east") if way > 0 else ("east", "west")


def _heads(analysis: Analysis, y: float, way: int) -> list[str]:
    return [
        rf"\node[anchor=base] at ({way * t * COLUMN:.2f},{y:.2f}) {{\textbf{{{tex(word)}}}}};"
        for t, word in enumerate(analysis.words)
    ]


def _require_position(analysis: Analysis, position: int) -> int:
    last, number = len(analysis.words) - 1, whole_number(position)
    if number is None or not 1 <= number <= last:
        raise CrfvizError(
            f"position must be that of a word with one before it, 1 to {last}, "
            f"got {abbreviate_value(position)}"
        )
    return number
