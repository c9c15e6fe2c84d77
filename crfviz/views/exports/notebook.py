"""Notebooks: the live stage as a widget or a frame, and results as small HTML tables.

The widget sends its edits to Python and needs anywidget (`pip install "crfviz[notebook]"`). Words
and names are escaped. Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.util import find_spec
from itertools import islice
from typing import Any

from torch import Tensor

from crfviz.chain.decoding.viterbi import Viterbi, viterbi
from crfviz.chain.distribution import Path, TagIds
from crfviz.chain.edits import END, START, Edits, weight_matrix
from crfviz.chain.forward_backward import ForwardBackward
from crfviz.chain.homework.grade import Trace
from crfviz.chain.notebook_repr import HTML_VIEWS
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import WhyNot
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.text.files import abbreviate_value
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, What, data, live_of
from crfviz.views.exports.live_page import live_page
from crfviz.views.formatting import columns, format_probability, score
from crfviz.views.theme import NEGATIVE, POSITIVE

NO_EDITS: Mapping[str, object] = {"transitions": [], "emissions": [], "strength": 1.0}
HEIGHT = 640  # pixels
MAX_SHOWN = 30  # rows and columns of a table; a line counts the others
TINT = 90  # of 255, the strongest tint
_CELL = "padding:1px 7px;text-align:right;font-variant-numeric:tabular-nums;"
_NAME = "padding:1px 7px;text-align:right;font-weight:600;"


class OnScreen:
    """Python's side of the widget: `potentials` and `path` are those on the screen."""

    edits: dict[str, Any]  # in the format of payloads; written by the browser
    data: dict[str, object]
    _live: Live

    @property
    def potentials(self) -> Potentials:
        """The edited chain; assigning another one draws it."""
        return edits_of(self.edits).apply(self._live.potentials)

    @potentials.setter
    def potentials(self, potentials: Potentials) -> None:
        if not isinstance(potentials, Potentials):
            raise CrfvizError(f"expected Potentials, got {abbreviate_value(potentials)}")
        live = Live(potentials, probabilistic=self._live.probabilistic)
        payload = data(live, list(PAGES))  # first, because it may be too long
        self._live = live
        self.edits = dict(NO_EDITS)
        self.data = payload

    @property
    def path(self) -> list[int] | None:
        """T tag ids of the best path; None where every path is forbidden."""
        try:
            return viterbi(self.potentials).path
        except NoPathError:
            return None

    def __repr__(self) -> str:
        now = self._live.potentials
        return f"crfviz.show: {now.num_tokens} words, {now.num_tags} tags"

    def _repr_html_(self) -> str:
        """Return the live file in its present state, for notebooks without a kernel."""
        return framed(replace(self._live, edits=edits_of(self.edits)))


def widget(live: Live) -> Any:  # noqa: ANN401 - anywidget may not be there
    """Return the widget of a chain.

    Raises:
        ImportError: anywidget is not installed.
    """
    return _widget_class()(live)


@cache
def _widget_class() -> Any:  # noqa: ANN401 - likewise
    """Return the widget class, created on first use: nothing else needs anywidget."""
    import anywidget
    import traitlets

    class Widget(OnScreen, anywidget.AnyWidget):  # type: ignore[misc]  # anywidget may be missing
        _esm = bundle.widget()
        sheet = traitlets.Unicode().tag(sync=True)
        data = traitlets.Dict().tag(sync=True)
        edits = traitlets.Dict().tag(sync=True)

        def __init__(self, live: Live) -> None:
            self._live = live
            payload = data(live, list(PAGES))
            super().__init__(sheet=bundle.style(), data=payload, edits=dict(NO_EDITS))

    return Widget


def edits_of(payload: Mapping[str, Any]) -> Edits:
    """Return the edits that the browser sends.

    Raises:
        CrfvizError: they are invalid.
    """
    try:
        return Edits(
            {(before, after): _score(value) for before, after, value in payload["transitions"]},
            {(position, tag): _score(value) for position, tag, value in payload["emissions"]},
            payload["strength"],
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, CrfvizError):
            raise
        raise CrfvizError(f"expected edits, got {abbreviate_value(payload)}") from error


def _score(value: float | None) -> float:
    return -math.inf if value is None else value


class Shown:
    """The result of `crfviz.show`; notebooks draw it, also after their kernel has ended."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def _repr_html_(self) -> str:
        return framed(self._live)

    def __repr__(self) -> str:
        return f"crfviz.show: {len(self._live.now.words)} words, {len(self._live.now.tags)} tags"


def show(what: What | Trace, sentence: str | Sequence[str] | None = None) -> Any:  # noqa: ANN401 - of two kinds
    """Return the live stage for a notebook.

    With anywidget (`pip install "crfviz[notebook]"`) it is a widget: `potentials` and `path` are
    the current state, and assigning `potentials` draws another chain. Without anywidget it is the
    live file in a frame, which sends nothing to Python.

    Args:
        what: potentials, best with their words, a tagger, or the trace of a program, which is
            played step by step.
        sentence: for a tagger its sentence, as typed or as words. Of more than 120 a window is
            drawn, with the numbers of all.

    Raises:
        CrfvizError: it is not one of these.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> shown = show(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
    """
    live = Live(what.potentials, trace=what) if isinstance(what, Trace) else live_of(what, sentence)
    if find_spec("anywidget") is None:
        return Shown(live)
    return widget(live)


def framed(live: Live) -> str:
    """Return an iframe with the whole live file."""
    page = escape(live_page(live, list(PAGES)))
    return (
        f'<iframe srcdoc="{page}" title="crfviz" '
        'sandbox="allow-scripts allow-downloads allow-modals allow-popups" '
        f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
    )


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


def _viterbi(result: Viterbi) -> str:
    ties = " Another path is exactly as good." if result.ties else ""
    tags, words = _ids(result.best)
    return _line(
        f"Best path {_tags(result.path)}: score {score(result.score, 4)} nats, "
        f"probability {format_probability(result.probability, 4)}.{ties}"
    ) + _grid("best(t, k), its path framed", tags, words, result.best.T, framed=result.path)


def _sums(result: ForwardBackward) -> str:
    tags, words = _ids(result.marginals)
    line = f"log Z {score(result.log_partition, 4)} nats, entropy {score(result.entropy, 4)} nats"
    return (
        _line(line)
        + _grid("marginals", tags, words, result.marginals.T, digits=4)
        + _grid("log α", tags, words, result.log_alpha.T)
        + _grid("log β", tags, words, result.log_beta.T)
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
    num_words, num_tags = table.shape
    return [f"tag {k}" for k in range(num_tags)], [f"{t + 1}" for t in range(num_words)]


def _tags(path: Sequence[int]) -> str:
    more = f" and {len(path) - MAX_SHOWN} more" if len(path) > MAX_SHOWN else ""
    names = path.names if isinstance(path, TagIds) else map(str, path)
    return " ".join(islice(names, MAX_SHOWN)) + more


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
    cut = [len(names) - MAX_SHOWN for names in (rows, heads)]
    left_out = [
        f"{n} more {what}" for n, what in zip(cut, ("rows", "columns"), strict=True) if n > 0
    ]
    head = "".join(f'<th style="{_NAME}">{escape(name)}</th>' for name in ["", *heads[:MAX_SHOWN]])
    body = "".join(
        f'<tr><th style="{_NAME}">{escape(name)}</th>'
        + "".join(
            _cell(value, full, digits, framed=t < len(framed) and framed[t] == k)
            for t, value in enumerate(row[:MAX_SHOWN])
        )
        + "</tr>"
        for k, (name, row) in enumerate(zip(rows[:MAX_SHOWN], values.tolist(), strict=False))
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
