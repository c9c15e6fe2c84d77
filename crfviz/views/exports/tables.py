"""Tables for papers and programs: CSV, Markdown, and LaTeX with booktabs.

LaTeX is for pdflatex and lualatex: words and numbers are escaped, documents compiled to PDF.

Letters: `T` tokens, `K` tags.
"""

import csv
import io
import math
import shutil
import subprocess
import tempfile
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START, Edits, weight_matrix
from crfviz.chain.validation import whole_number
from crfviz.exceptions import CrfvizError
from crfviz.text.direction import right_to_left
from crfviz.text.files import abbreviate_value, write_atomically
from crfviz.views.explanation import edit_list
from crfviz.views.exports.live import Live, What, live_of
from crfviz.views.formatting import columns, score
from crfviz.views.strips.decoders import USUAL_ROWS, decoder_rows

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\texttt{\char34}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\textellipsis{}",
    "€": r"\texteuro{}",
    "α": r"\ensuremath{\alpha}",
    "β": r"\ensuremath{\beta}",
    "→": r"\ensuremath{\to}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "∞": r"\ensuremath{\infty}",
}
_LIGATURES = set("-,?!")  # pairs of them would become one sign
_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŠšŽžŁłČčŘřŚśŻżŃńĆć"

SIGN = r"\crfvizsign"  # writes a sign by its number
RTL = r"\crfvizrtl"  # writes a text from right to left
# For both engines. With pdflatex, characters that Latin fonts lack are written by number.
MACROS = r"""\ifdefined\directlua
  \providecommand\crfvizsign[1]{\iffontchar\font"#1 \symbol{"#1}\else{\textdir TLT\texttt{U+#1}}\fi}
  \providecommand\crfvizrtl[1]{{\textdir TRT#1}}
\else
  \providecommand\crfvizsign[1]{\texttt{U+#1}}
  \providecommand\crfvizrtl[1]{#1}
\fi
"""
PREAMBLE = rf"""\ifdefined\directlua\else
  \usepackage[T1]{{fontenc}}
  \usepackage{{textcomp}}
\fi
{MACROS}"""
ENGINES = ("pdflatex", "lualatex")  # the second one has more than Latin letters, and is slower
LONGEST = 180  # seconds; in its first run lualatex lists all fonts
TABLES: Mapping[str, Callable[[Analysis], Tensor]] = {
    "marginals": lambda analysis: analysis.forward_backward.marginals,
    "emissions": lambda analysis: analysis.potentials.emissions,
    "alpha": lambda analysis: analysis.forward_backward.log_alpha,
    "beta": lambda analysis: analysis.forward_backward.log_beta,
    "best": lambda analysis: analysis.best,
}  # (T, K) by name
DECODERS, TRANSITIONS = "decoders", "transitions"
EDITS_LINE = 60  # characters of a line of edits below a table


def tex(text: str) -> str:
    """Return a text escaped for LaTeX; characters without a glyph become U+ and their number."""
    signs = "".join(map(_sign, unicodedata.normalize("NFC", text)))
    return rf"{RTL}{{{signs}}}" if right_to_left(text) else signs


def number(value: float, digits: int) -> str:
    """Return a number in LaTeX math with a fixed number of decimals; a dash for NaN."""
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = f"{value:.{digits}f}"
    return f"${text.removeprefix('-') if float(text) == 0 else text}$"


def _sign(sign: str) -> str:
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    if sign in _LIGATURES:
        return f"{sign}\\kern0pt{{}}"
    if (sign.isascii() and sign.isprintable()) or sign in _LETTERS:
        return sign
    return " " if sign.isspace() else rf"{SIGN}{{{ord(sign):04X}}}"


def compiled(document: str) -> bytes:
    """Compile a document that needs no packages but its own, and return the PDF.

    Raises:
        CrfvizError: there is no LaTeX here, or it does not compile the document.
    """
    engines = ENGINES[::-1] if f"{SIGN}{{" in document else ENGINES
    engine = next(filter(None, map(shutil.which, engines)), None)
    if engine is None:
        raise CrfvizError(
            f"a PDF needs {' or '.join(ENGINES)} here: write a .tex file, to be compiled elsewhere"
        )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "picture.tex"
        source.write_text(document, encoding="utf-8")
        options = ("-no-shell-escape", "-interaction=batchmode", "-halt-on-error")
        try:
            subprocess.run(
                [engine, *options, source.name],
                cwd=folder,
                check=True,
                timeout=LONGEST,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            return source.with_suffix(".pdf").read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            name = Path(engine).name
            raise CrfvizError(
                f"{name} does not compile the picture ({error}): it needs the packages standalone "
                "and tikz; a .tex file can be written without them"
            ) from error


Rows = list[list[str | float]]  # the head first; numbers are written by the format


def export_table(
    what: What,
    path: str | PathLike[str],
    *,
    sentence: str | Sequence[str] | None = None,
    table: str = "marginals",
    digits: int = 4,
    edits: Edits | None = None,
) -> Path:
    """Write one table as CSV, Markdown or LaTeX, as the name of the file ends; return its path.

    Args:
        what: potentials, best with their words, or a tagger.
        path: a .csv, .md or .tex file.
        sentence: for a tagger its sentence, as typed or as words.
        table: marginals, emissions, alpha, beta or best with a row per tag and a column per word,
            decoders (what each of them chooses) or transitions.
        digits: decimals.
        edits: changes of the scores, applied first. They are listed below the table, and in the
            first cell of CSV, which is empty otherwise.

    Raises:
        CrfvizError: it is not one of these, the edits do not fit, or the file cannot be written.
    """
    form = FORMATS.get(Path(path).suffix.lower())
    if form is None:
        raise CrfvizError(
            f"expected a .csv, .md or .tex file, got {abbreviate_value(str(Path(path).name))}"
        )
    known = [*TABLES, DECODERS, TRANSITIONS]
    if table not in known:
        raise CrfvizError(f"table must be one of {', '.join(known)}, got {abbreviate_value(table)}")
    digits = require_digits(digits, 17)
    now = edited(what, sentence, edits).now
    listed = edit_list(edits or Edits(), now.words)
    write_atomically(Path(path), [form(rows_of(now, table), digits, listed).encode()])
    return Path(path)


def edited(what: What, sentence: str | Sequence[str] | None, edits: Edits | None) -> Live:
    """Return the scores of a sentence with their edits; see `live_of`."""
    if not isinstance(edits, Edits | None):
        raise CrfvizError(f"edits must be crfviz.Edits, got {abbreviate_value(edits)}")
    return replace(live_of(what, sentence), edits=edits or Edits())


def require_digits(digits: int, most: int) -> int:
    """Return a number of decimals as a plain integer; raise CrfvizError if it is none."""
    number = whole_number(digits)
    if number is None or not 0 <= number <= most:
        raise CrfvizError(
            f"digits must be a whole number from 0 to {most}, got {abbreviate_value(digits)}"
        )
    return number


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


def as_csv(rows: Rows, digits: int, edits: str = "") -> str:
    """Return CSV for programs: -inf for forbidden, an empty cell for NaN.

    Comments would break readers, so a list of edits stands in the first cell.
    """
    rows = [[edits, *rows[0][1:]], *rows[1:]] if edits else rows

    def plain(cell: str | float) -> str:
        if isinstance(cell, str):
            return cell
        return "" if math.isnan(cell) else f"{cell:.{digits}f}"

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[plain(cell) for cell in row] for row in rows])
    return text.getvalue()


def as_markdown(rows: Rows, digits: int, edits: str = "") -> str:
    """Return a GitHub Markdown table with right-aligned numbers, and the list of edits below."""

    def cell(value: str | float) -> str:
        if not isinstance(value, str):
            return score(value, digits)
        marked = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|&~$" else sign for sign in value)
        return " ".join(marked.split())

    head, *body = [[cell(value) for value in row] for row in rows]
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(row)} |\n" for row in [head, rule, *body]]
    return "".join([*lines, f"\n{cell(edits)}\n" if edits else ""])


def as_latex(rows: Rows, digits: int, edits: str = "") -> str:
    """Return a tabular for booktabs, after the macros of its rare characters, if there are any.

    The list of edits is below the last rule, in lines that keep a narrow table narrow.
    """

    def line(row: Sequence[str | float]) -> str:
        cells = [tex(cell) if isinstance(cell, str) else number(cell, digits) for cell in row]
        if cells[0].startswith(
            ("[", "*")
        ):  # LaTeX would read it as an option of the previous command
            cells[0] = f"{{}}{cells[0]}"
        return " & ".join(cells) + r" \\"

    head, *body = [line(row) for row in rows]
    below = [
        rf"\multicolumn{{{len(rows[0])}}}{{l}}{{\footnotesize {tex(part)}}} \\"
        for part in textwrap.wrap(edits, EDITS_LINE)
    ]
    rare = any(macro in text for macro in (SIGN, RTL) for text in (head, *body, *below))
    return "\n".join(
        [
            rf"{MACROS * rare}\begin{{tabular}}{{l{'r' * (len(rows[0]) - 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            *below,
            r"\end{tabular}",
            "",
        ]
    )


FORMATS: Mapping[str, Callable[[Rows, int, str], str]] = {
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
}
