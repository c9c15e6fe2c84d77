"""Chains as tables and charts: transitions, uploaded files, contributions, joint marginals."""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import product

import altair as alt
import numpy as np
import pandas as pd
from torch import Tensor

from crfviz.chain.edits import END, START, weight_matrix
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.gauge import leaving
from crfviz.exceptions import ShapeError
from crfviz.taggers.attribution import Attribution
from crfviz.taggers.brought.validated_model import ValidatedModel
from crfviz.taggers.tagger import CRF, HMM, MEMM, PERCEPTRON
from crfviz.views.formatting import columns, listed, named, score, signed
from crfviz.views.theme import NEGATIVE, POSITIVE, READABLE

MIN_CHANGE = 0.005  # smallest change that two digits show
COLOURS = ["#f1f4f8", "#0072B2"]  # of 0 and 1
MAX_NUMBERED = 12  # maximum number of columns with a number in every cell
LABEL_PIXELS = 120  # width of a tag's name beside a heatmap
SHORTENED = (  # Vega expression; keeps the end, because long names often differ there
    "length(datum.label) > 18 ? slice(datum.label, 0, 8) + '…' + slice(datum.label, -8) "
    ": datum.label"
)
BARS_HEIGHT = 170  # pixels
MAX_LEVEL = 12  # maximum number of words with horizontal labels
MAX_WORDS = 3  # maximum number of words that the note names
MAX_FEATURES = 10
MAX_NAMES = 30  # tags listed, and rows and columns of the matrix shown
SCORES = {
    CRF: "scores of a CRF, in nats",
    HMM: "logarithms of probabilities (HMM)",
    MEMM: "logarithms of probabilities (MEMM)",
    PERCEPTRON: "scores of a perceptron, no probabilities",
}
CLASS = "crfviz-plain"  # class of the table's container, for style sheets
OPEN = "open"  # text of a link; its accessible name also has the first texts of the row
_LONGEST_NAME = 80  # maximum number of characters of an accessible name


def transition_frame(potentials: Potentials, step: int = 0) -> pd.DataFrame:
    """Return the scores from the row's tag to the column's, with START and END, in nats.

    Args:
        potentials: a chain with one transition matrix for all steps, or one for each.
        step: index of the step, below T-1; matters only if each step has its own matrix.

    Returns:
        (K+1, K+1); START to END does not exist and is NaN, as are the transitions of a single word
        if each step has its own matrix.

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
    """Return Σ exp(score) over everything that may follow each tag: 1 in an HMM.

    END is included if the model has end scores that are not all 0.
    """
    with_end = bool((trained.end != 0).any())
    values = {
        name: leaving(chain, with_end=with_end).numpy()
        for name, chain in (("as trained", trained), ("now", now))
    }
    names = pd.Index([START, *now.tag_names], name="Σ exp of what follows")
    return pd.DataFrame(values, index=names)


def facts_frame(understood: ValidatedModel) -> pd.DataFrame:
    """Return the contents of the files, one fact a row.

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
        "tags": f"{len(understood.tags)}: {listed(understood.tags, MAX_NAMES)}",
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
    """Describe the largest transition, so that a reader notices a transposed matrix.

    One sentence; empty if there is no such transition.
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


def plain_table(
    frame: pd.DataFrame,
    links: list[str],
    formats: Mapping[str, str] | None = None,
    marked: int | None = None,
) -> str:
    """Return a frame as an HTML table with links, in its order of columns.

    Args:
        frame: texts and numbers.
        links: the columns of URLs; a cell is None if its row has no link.
        formats: format of the numbers of a column, such as "{:.2f}".
        marked: the row that the reader has just returned from.

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


def because(
    attribution: Attribution, words: Sequence[str], position: int, tags: tuple[str, str]
) -> str:
    """Explain the gap between two emissions, the largest contributions first."""
    values = attribution.words.tolist()
    order = sorted(range(len(words)), key=lambda t: -abs(values[t]))
    parts = [f"“{words[t]}” {signed(values[t])}" for t in order[:MAX_WORDS] if values[t]]
    rest = [values[t] for t in order[MAX_WORDS:] if values[t]]
    more = [f"all other words {signed(sum(rest))}"] if rest else []
    return (
        f"At {named(words, position)} the emission of {tags[0]} minus that of {tags[1]} is "
        f"{signed(attribution.gap)} nats, as trained: because of "
        f"{', '.join([*parts, *more, f'and without any word {signed(attribution.baseline)}'])}."
    )


def features_note(attribution: Attribution) -> str:
    """Return the largest features of a linear tagger; empty for a network."""
    shown = [
        f"{name} {signed(value)}" for name, value in attribution.features[:MAX_FEATURES] if value
    ]
    return f"Largest features: {', '.join(shown)}." if shown else ""


def because_chart(attribution: Attribution, words: Sequence[str]) -> alt.Chart:
    """Return a bar for each word, up for the tag and down for its rival."""
    frame = pd.DataFrame({"word": columns(words), "nats": attribution.words})
    axis = alt.Axis(labelAngle=0 if len(words) <= MAX_LEVEL else 90)
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("word:N", sort=columns(words), title=None, axis=axis),
            y=alt.Y("nats:Q", title="nats"),
            color=alt.condition("datum.nats < 0", alt.value(NEGATIVE), alt.value(POSITIVE)),
            tooltip=["word:N", alt.Tooltip("nats:Q", format="+.4f")],
        )
        .properties(height=BARS_HEIGHT, config=READABLE)
    )
    return chart


def because_frame(attribution: Attribution, words: Sequence[str]) -> pd.DataFrame:
    """Return a column for each word with its contribution, then the baseline and the sum."""
    values = [*attribution.words.tolist(), attribution.baseline, attribution.gap]
    texts = [score(value, 4) for value in values]
    return pd.DataFrame([texts], columns=[*columns(words), "no word", "sum"], index=["nats"])


def pair_frame(pairs: Tensor, tags: Sequence[str], trained: Tensor | None = None) -> pd.DataFrame:
    """Return the table of the heatmap: one row per pair of tags, the most probable first.

    Args:
        pairs: (K, K) joint probabilities, earlier word first.
        tags: K tag names.
        trained: (K, K) the same before the edits, if any.

    Returns:
        Columns first, second, probability; with `trained` also trained and change, which is "▲",
        "▼" or empty if two digits show no change.
    """
    names = pd.DataFrame(product(tags, tags), columns=["first", "second"])
    frame = names.assign(probability=pairs.flatten().tolist())
    if trained is not None:
        frame["trained"] = trained.flatten().tolist()
        moved = frame["probability"] - frame["trained"]
        frame["change"] = [
            "▲" if by >= MIN_CHANGE else "▼" if by <= -MIN_CHANGE else "" for by in moved
        ]
    return frame.sort_values("probability", ascending=False, kind="stable", ignore_index=True)


def pair_heatmap(frame: pd.DataFrame, tags: Sequence[str], least: float = 0.0005) -> alt.LayerChart:
    """Return a heatmap of the frame of `pair_frame`: a cell per pair of tags.

    Tags are left out if all their pairs are less probable than `least`. With many columns, cells
    of 0.00 have no text. An empty frame gives an empty chart.
    """
    heavy = frame[frame["probability"] >= least]
    rows = [tag for tag in tags if tag in set(heavy["first"])]
    columns = [tag for tag in tags if tag in set(heavy["second"])]
    shown = frame[frame["first"].isin(rows) & frame["second"].isin(columns)]
    ghosts = "change" in shown
    names = partial(alt.Axis, labelLimit=LABEL_PIXELS, labelExpr=SHORTENED)
    before = [alt.Tooltip("trained:Q", format=".6f")] if ghosts else []
    base = alt.Chart(shown).encode(
        x=alt.X(
            "second:N",
            scale=alt.Scale(domain=columns),
            title="later word",
            axis=names(orient="top", labelAngle=0),
        ),
        y=alt.Y(
            "first:N",
            scale=alt.Scale(domain=rows),
            title="earlier word",
            axis=names(),
        ),
        tooltip=["first:N", "second:N", alt.Tooltip("probability:Q", format=".6f"), *before],
    )
    cells = base.mark_rect().encode(
        color=alt.Color("probability:Q", scale=alt.Scale(domain=[0, 1], range=COLOURS), legend=None)
    )
    dark, some = alt.datum.probability > 0.45, alt.datum.probability >= MIN_CHANGE
    ink = alt.condition(dark, alt.value("white"), alt.value("#14243a"))
    text = alt.Text("probability:Q", format=".2f")
    numbered = base if len(columns) <= MAX_NUMBERED else base.transform_filter(some)
    numbers = numbered.mark_text(fontSize=14).encode(text=text, color=ink)
    layers = cells + numbers
    if ghosts:
        marks = base.mark_text(fontSize=10, align="left", xOffset=18)
        layers += marks.encode(text="change:N", color=ink)
    chart: alt.LayerChart = layers.properties(height=alt.Step(28), config=READABLE)
    return chart
