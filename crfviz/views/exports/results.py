"""The library's results as small HTML tables for notebooks.

Words and names are text, whatever stands in them. Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Sequence
from html import escape
from itertools import islice

from torch import Tensor

from crfviz.chain.decoding.viterbi import Viterbi
from crfviz.chain.edits import END, START, weight_matrix
from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.notebook_repr import HTML_VIEWS
from crfviz.chain.paths import Path, TagIds
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import WhyNot
from crfviz.views.formatting import columns, format_probability, score
from crfviz.views.theme import NEGATIVE, POSITIVE

MOST = 30  # rows and columns of a table; what is left out is counted
TINT = 90  # of 255, where a colour is full

_CELL = "padding:1px 7px;text-align:right;font-variant-numeric:tabular-nums;"
_NAME = "padding:1px 7px;text-align:right;font-weight:600;"


def register() -> None:
    """Have notebooks draw the library's results."""
    HTML_VIEWS.update(
        {
            Potentials: _potentials,
            Viterbi: _viterbi,
            ForwardBackward: _sums,
            Path: _path,
            WhyNot: _why_not,
        }
    )


def _potentials(scores: Potentials) -> str:
    words = columns(scores.tokens or ["word"] * scores.num_tokens)
    parts = [
        _line(f"Potentials: {scores.num_tokens} words, {scores.num_tags} tags, in nats"),
        _grid("emissions", scores.tag_names, words, scores.emissions.T),
    ]
    if scores.homogeneous:
        names = [START, *scores.tag_names], [*scores.tag_names, END]
        parts.append(
            _grid("transitions, from the row to the column", *names, weight_matrix(scores))
        )
    else:
        parts.append(_line("each step has transitions of its own"))
    return "".join(parts)


def _viterbi(found: Viterbi) -> str:
    ties = " Another path is exactly as good." if found.ties else ""
    tags, words = _ids(found.best)
    return _line(
        f"Best path {_tags(found.path)}: score {score(found.score, 4)} nats, "
        f"probability {format_probability(found.probability, 4)}.{ties}"
    ) + _grid("best(t, k), its path framed", tags, words, found.best.T, framed=found.path)


def _sums(found: ForwardBackward) -> str:
    tags, words = _ids(found.marginals)
    line = f"log Z {score(found.log_partition, 4)} nats, entropy {score(found.entropy, 4)} nats"
    return (
        _line(line)
        + _grid("marginals", tags, words, found.marginals.T, digits=4)
        + _grid("log α", tags, words, found.log_alpha.T)
        + _grid("log β", tags, words, found.log_beta.T)
    )


def _path(path: Path) -> str:
    return _line(
        f"Path {_tags(path.tags)}: score {score(path.score, 4)} nats, "
        f"probability {format_probability(path.probability, 4)}"
    )


def _why_not(answer: WhyNot) -> str:
    deciding = answer.deciding
    steps = [START, *map(str, range(2, len(answer.path) + 1)), END]
    emissions = [f"{t}" for t in range(1, len(answer.path) + 1)]
    return (
        _line(
            f"With the tag: {_tags(answer.path)}, {score(answer.gap, 4)} nats behind "
            f"{_tags(answer.best)}. The {deciding.kind} at word {deciding.position + 1} decides: "
            f"{score(deciding.value, 4)} nats."
        )
        + _grid("emission terms by word", [""], emissions, answer.emission_terms[None])
        + _grid("transition terms by step into a word", [""], steps, answer.transition_terms[None])
    )


def _ids(table: Tensor) -> tuple[list[str], list[str]]:
    """Return names for rows and columns that have only numbers."""
    num_words, num_tags = table.shape
    return [f"tag {k}" for k in range(num_tags)], [f"{t + 1}" for t in range(num_words)]


def _tags(path: Sequence[int]) -> str:
    more = f" and {len(path) - MOST} more" if len(path) > MOST else ""
    names = path.names if isinstance(path, TagIds) else map(str, path)
    return " ".join(islice(names, MOST)) + more


def _line(text: str) -> str:
    return f'<div style="margin:4px 0">{escape(text)}</div>'


def _grid(
    title: str,
    rows: Sequence[str],
    heads: Sequence[str],
    values: Tensor,
    *,
    digits: int = 2,
    framed: Sequence[int] = (),
) -> str:
    """Return a table tinted by size; `framed` names the framed column of each row."""
    finite = values[values.isfinite()].abs()
    full = finite.max().item() if finite.numel() else 1.0
    cut = [len(names) - MOST for names in (rows, heads)]
    left_out = [
        f"{n} more {what}" for n, what in zip(cut, ("rows", "columns"), strict=True) if n > 0
    ]
    head = "".join(f'<th style="{_NAME}">{escape(name)}</th>' for name in ["", *heads[:MOST]])
    body = "".join(
        f'<tr><th style="{_NAME}">{escape(name)}</th>'
        + "".join(
            _cell(value, full, digits, framed=t < len(framed) and framed[t] == k)
            for t, value in enumerate(row[:MOST])
        )
        + "</tr>"
        for k, (name, row) in enumerate(zip(rows[:MOST], values.tolist(), strict=False))
    )
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse">'
        f'<caption style="text-align:left">{escape(title)}</caption>'
        f"<tr>{head}</tr>{body}</table></div>" + "".join(map(_line, left_out))
    )


def _cell(value: float, full: float, digits: int, *, framed: bool) -> str:
    colour = NEGATIVE if value < 0 else POSITIVE
    share = abs(value) / (full or 1.0) if math.isfinite(value) else 0.0
    style = f"{_CELL}background:{colour}{round(TINT * share):02x};"
    if framed:
        style += "outline:2px solid currentColor;outline-offset:-2px;font-weight:700;"
    text = "" if math.isnan(value) else score(value, digits)
    return f'<td style="{style}">{text}</td>'
