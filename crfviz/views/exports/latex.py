"""LaTeX for pdflatex and lualatex: escaped words and numbers, and documents compiled to PDF."""

import math
import shutil
import subprocess
import tempfile
import unicodedata
from pathlib import Path

from crfviz.exceptions import CrfvizError

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
    '"': r"\textquotedbl{}",
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
}
_LIGATURES = set("-,?!")  # two of them would become one sign
_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŒœŠšŽžŁłČčŘřŚśŻżŃńĆć"

SIGN = r"\crfvizsign"  # writes a sign by its number
# What both engines need. Signs that Latin fonts lack are written by their number with pdflatex.
PREAMBLE = r"""\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage{textcomp}
  \newcommand\crfvizsign[1]{\texttt{U+#1}}
\else
  \newcommand\crfvizsign[1]{\iffontchar\font"#1 \symbol{"#1}\else\texttt{U+#1}\fi}
\fi
"""


def tex(text: str) -> str:
    """Return a text escaped for LaTeX; characters without a glyph become U+ and their number."""
    return "".join(map(_sign, unicodedata.normalize("NFC", text)))


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


ENGINES = ("pdflatex", "lualatex")  # the second one has signs beyond Latin letters, and is slower
LONGEST = 180  # seconds: the first time lualatex lists all fonts


def compiled(document: str) -> bytes:
    """Compile a document that needs no packages but its own, and return the PDF.

    Raises:
        CrfvizError: there is no LaTeX here, or it does not compile the document.
    """
    wanted = ENGINES[::-1] if f"{SIGN}{{" in document else ENGINES
    engine = next(filter(None, map(shutil.which, wanted)), None)
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
