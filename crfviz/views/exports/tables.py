"""Tables for papers and programs: CSV, Markdown, and LaTeX with booktabs.

Letters: `T` tokens, `K` tags.
"""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.edits import END, START, weight_matrix
from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value
from crfviz.views.exports.latex import number, tex
from crfviz.views.exports.live import What, live_of
from crfviz.views.formatting import columns, score
from crfviz.views.strips.decoders import USUAL_ROWS, decoder_rows

TABLES: Mapping[str, Callable[[Analysis], Tensor]] = {
    "marginals": lambda analysis: analysis.forward_backward.marginals,
    "emissions": lambda analysis: analysis.potentials.emissions,
    "alpha": lambda analysis: analysis.forward_backward.log_alpha,
    "beta": lambda analysis: analysis.forward_backward.log_beta,
    "best": lambda analysis: analysis.best,
}  # (T, K) by name
DECODERS, TRANSITIONS = "decoders", "transitions"

Rows = list[list[str | float]]  # the head first; numbers are written by the format


def export_table(
    what: What,
    path: str | PathLike[str],
    *,
    sentence: str | Sequence[str] | None = None,
    table: str = "marginals",
    digits: int = 4,
) -> Path:
    """Write one table as CSV, Markdown or LaTeX, as the name of the file ends; return its path.

    Args:
        what: potentials, best with their words, or a tagger.
        path: of a .csv, .md or .tex file.
        sentence: for a tagger its sentence, as typed or as words.
        table: marginals, emissions, alpha, beta or best with a row per tag and a column per word,
            decoders (what each of them chooses) or transitions.
        digits: decimals.

    Raises:
        CrfvizError: it is not one of these, or the file cannot be written.
    """
    form = FORMATS.get(Path(path).suffix.lower())
    if form is None:
        raise CrfvizError(
            f"expected a .csv, .md or .tex file, got {abbreviate_value(str(Path(path).name))}"
        )
    known = [*TABLES, DECODERS, TRANSITIONS]
    if table not in known:
        raise CrfvizError(f"table must be one of {', '.join(known)}, got {abbreviate_value(table)}")
    if digits not in range(18):
        raise CrfvizError(
            f"digits must be a whole number from 0 to 17, got {abbreviate_value(digits)}"
        )
    return write(form(rows_of(analyse(live_of(what, sentence).potentials), table), digits), path)


def rows_of(analysis: Analysis, table: str) -> Rows:
    """Return the head and the rows of a table.

    Raises:
        CrfvizError: each step has its own transitions.
    """
    words = columns(analysis.words)
    if table == DECODERS:
        chosen = decoder_rows(analysis, which=USUAL_ROWS)
        dashes = ["–"] * len(words)
        lines: Rows = [["", *words]]
        lines += [[row.label, *(row.names(analysis.tags) or dashes)] for row in chosen]
        return lines
    if table == TRANSITIONS:
        if not analysis.potentials.homogeneous:
            raise CrfvizError("each step has transitions of its own: there is no one table of them")
        head, rows_of_tags = [*analysis.tags, END], [START, *analysis.tags]
        values = weight_matrix(analysis.potentials)
    else:
        head, rows_of_tags = words, list(analysis.tags)
        values = torch.as_tensor(TABLES[table](analysis)).T
    named = zip(rows_of_tags, values.tolist(), strict=True)
    return [["", *head], *[[name, *row] for name, row in named]]


def as_csv(rows: Rows, digits: int) -> str:
    """Return CSV for programs: -inf for forbidden, an empty cell for NaN."""

    def plain(cell: str | float) -> str:
        if isinstance(cell, str):
            return cell
        return "" if math.isnan(cell) else f"{cell:.{digits}f}"

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[plain(cell) for cell in row] for row in rows])
    return text.getvalue()


def as_markdown(rows: Rows, digits: int) -> str:
    """Return a GitHub Markdown table with right-aligned numbers."""

    def cell(value: str | float) -> str:
        if not isinstance(value, str):
            return score(value, digits)
        marked = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|&~$" else sign for sign in value)
        return " ".join(marked.split())

    head, *body = [[cell(value) for value in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *body])


def as_latex(rows: Rows, digits: int) -> str:
    """Return a tabular for booktabs; rare characters need `latex.PREAMBLE`."""

    def line(row: Sequence[str | float]) -> str:
        cells = [tex(cell) if isinstance(cell, str) else number(cell, digits) for cell in row]
        return " & ".join(cells) + r" \\"

    head, *body = rows
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            line(head),
            r"\midrule",
            *map(line, body),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


FORMATS: Mapping[str, Callable[[Rows, int], str]] = {
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
}


def write(content: str | bytes, path: str | PathLike[str]) -> Path:
    """Write a file whole or not at all, a text as UTF-8; return its path.

    Raises:
        CrfvizError: it cannot be written there.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        draft.replace(target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise CrfvizError(f"{target.name} cannot be written: {error.strerror}") from error
    return target
