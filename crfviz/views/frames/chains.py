"""Chains as tables: every transition, what leaves each tag, what files hold; tables as HTML."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd

from crfviz.chain.edits import END, START, weight_matrix
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import leaving
from crfviz.exceptions import ShapeError
from crfviz.taggers.brought.validated_model import ValidatedModel
from crfviz.taggers.tagger import CRF, HMM, MEMM, PERCEPTRON
from crfviz.views.formatting import listed

MOST_NAMES = 30  # tags listed, and rows and columns of the matrix shown
SCORES = {
    CRF: "scores of a CRF, in nats",
    HMM: "logarithms of probabilities (HMM)",
    MEMM: "logarithms of probabilities (MEMM)",
    PERCEPTRON: "scores of a perceptron, no probabilities",
}


def transition_frame(potentials: Potentials, step: int = 0) -> pd.DataFrame:
    """Return the scores from the row's tag to the column's, with START and END, in nats.

    Args:
        potentials: a chain with one transition matrix for all steps, or one for each.
        step: which of the T-1 steps; it makes a difference only where each has its own matrix.

    Returns:
        (K+1, K+1); START to END does not exist and is NaN, as are the transitions of a single word
        where they are given step by step.

    Raises:
        ShapeError: the chain has no such step.
    """
    steps = max(1, potentials.num_tokens - 1)
    if not 0 <= step < steps:
        raise ShapeError(f"step must be 0 to {steps - 1}, got {step}")
    names = potentials.tag_names
    return pd.DataFrame(
        weight_matrix(potentials, step).numpy(), index=[START, *names], columns=[*names, END]
    )


def leaving_frame(trained: Potentials, now: Potentials) -> pd.DataFrame:
    """Return Σ exp(score) of everything that may follow each tag: 1 in an HMM.

    END is among it where the model has one, which is where its end scores are not all 0.
    """
    with_end = bool((trained.end != 0).any())
    values = {
        name: leaving(chain, with_end=with_end).numpy()
        for name, chain in (("as trained", trained), ("now", now))
    }
    names = pd.Index([START, *now.tag_names], name="Σ exp of what follows")
    return pd.DataFrame(values, index=names)


def facts_frame(understood: ValidatedModel) -> pd.DataFrame:
    """Return what the files contain, a fact a row.

    Returns:
        Columns "what" and "understood", text both.
    """
    chains = understood.sentences
    lengths = [chain.num_tokens for chain in chains]
    steps = sum(not chain.homogeneous for chain in chains)
    times = "one sentence" if steps == 1 else f"{steps} sentences"
    few, many = min(lengths), max(lengths)
    rows = {
        "files": understood.kind,
        "scores": SCORES[understood.family],
        "tags": f"{len(understood.tags)}: {listed(understood.tags, MOST_NAMES)}",
        "sentences": f"{len(chains)}, of {few if few == many else f'{few} to {many}'} words",
        "matrices": f"[from, to], one {f'a step in {times}' if steps else 'for all steps'}",
        "transitions": _range(chains, "transitions"),
        "emissions": _range(chains, "emissions"),
        "start": _range(chains, "start"),
        "end": _range(chains, "end"),
        "rules": "those of BIO" if understood.scheme else "none",
    }
    return pd.DataFrame(rows.items(), columns=["what", "understood"])


def axis_line(chain: Potentials) -> str:
    """Return the largest transition in words, so that a transposed matrix is noticed.

    One sentence; empty where there is no such transition.
    """
    matrix = chain.step(0).detach().numpy()
    others = np.where(np.eye(chain.num_tags, dtype=bool), -np.inf, matrix)
    source, target = np.unravel_index(int(others.argmax()), others.shape)
    if not np.isfinite(others[source, target]):
        return ""
    names = chain.tag_names
    return (
        f"Read so that {names[target]} after {names[source]} has {others[source, target]:.4g}, the "
        f"largest between two tags, and {names[source]} after {names[target]} has "
        f"{matrix[target, source]:.4g}."
    )


def _range(chains: Sequence[Potentials], name: str) -> str:
    """Return the smallest and largest finite score, and how many are forbidden."""
    scores = np.concatenate([getattr(chain, name).numpy().ravel() for chain in chains])
    finite = scores[np.isfinite(scores)]
    if not len(scores):
        return "none: a single word has no step"
    span = "all forbidden"
    if len(finite):
        low, high = finite.min(), finite.max()
        span = f"all {low:.4g}" if low == high else f"from {low:.4g} to {high:.4g}"
    forbidden = len(scores) - len(finite)
    return f"{span}; {forbidden:,} of {len(scores):,} forbidden (-inf)" if forbidden else span


CLASS = "crfviz-plain"  # of the box around it, for style sheets
OPEN = "open"  # what a link says; its name has the first texts of its row, too
_LONGEST_NAME = 80  # characters of such a name


def plain_table(
    frame: pd.DataFrame,
    links: list[str],
    formats: Mapping[str, str] | None = None,
    marked: int | None = None,
) -> str:
    """Return a frame as an HTML table with links, in its order of columns.

    Args:
        frame: texts and numbers.
        links: the columns that hold addresses, or None where a row has none.
        formats: how the numbers of a column are written, such as "{:.2f}".
        marked: the row that the reader comes back from.

    Returns:
        One element, with everything from the frame escaped.
    """
    heads = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in frame.columns)
    rows = []
    for place, row in enumerate(frame.to_dict("records")):
        texts = [str(row[name]) for name in frame.columns if name not in links]
        about = ", ".join(texts[:3])[:_LONGEST_NAME]
        cells = [
            _link(row[name], f"{OPEN} {name}: {about}")
            if name in links
            else f"<td>{escape(_written(row[name], (formats or {}).get(name)))}</td>"
            for name in frame.columns
        ]
        here = ' aria-current="true"' if place == marked else ""
        rows.append(f"<tr{here}>{''.join(cells)}</tr>")
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="{CLASS}"><table>{body}</table></div>'


def _link(address: object, name: str) -> str:
    if not isinstance(address, str) or not address:
        return "<td></td>"
    given = escape(address, quote=True), escape(name, quote=True)
    return f'<td><a href="{given[0]}" aria-label="{given[1]}">{OPEN}</a></td>'


def _written(cell: object, form: str | None) -> str:
    if cell is None or (isinstance(cell, float) and pd.isna(cell)):
        return "–"
    return form.format(cell) if form else str(cell)
