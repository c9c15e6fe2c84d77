"""Words and numbers for LaTeX, whatever stands in them, for pdflatex and lualatex alike."""

import math
import unicodedata

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
    """A text as LaTeX writes it; signs that the fonts lack stand there as U+ and their number."""
    return "".join(map(_sign, unicodedata.normalize("NFC", text)))


def number(value: float, digits: int) -> str:
    """A number in LaTeX's maths, with so many decimals; a dash for none."""
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
