"""The live stage in a notebook: a widget that tells Python its edits, or a frame without it.

The widget needs anywidget (`pip install "crfviz[notebook]"`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.util import find_spec
from typing import Any

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.edits import Edits
from crfviz.chain.homework.grade import Trace
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.text.files import abbreviate_value
from crfviz.views.exports import bundle
from crfviz.views.exports.live import PAGES, Live, What, data, live_of
from crfviz.views.exports.live_page import live_page

NO_EDITS: Mapping[str, object] = {"transitions": [], "emissions": [], "strength": 1.0}


class OnScreen:
    """Python's side of the widget: `potentials` and `path` are those on the screen."""

    edits: dict[str, Any]  # as payloads have them; the browser writes them
    data: dict[str, object]
    _live: Live

    @property
    def potentials(self) -> Potentials:
        """The chain with everything that was edited; setting it draws another one."""
        return edits_of(self.edits).apply(self._live.potentials)

    @potentials.setter
    def potentials(self, potentials: Potentials) -> None:
        if not isinstance(potentials, Potentials):
            raise CrfvizError(f"expected Potentials, got {abbreviate_value(potentials)}")
        live = Live(potentials, probabilistic=self._live.probabilistic)
        told = data(live, list(PAGES))  # before anything is changed: it may be too long
        self._live = live
        self.edits = dict(NO_EDITS)
        self.data = told

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

    class Widget(OnScreen, anywidget.AnyWidget):  # type: ignore[misc]
        _esm = bundle.widget()
        sheet = traitlets.Unicode().tag(sync=True)
        data = traitlets.Dict().tag(sync=True)
        edits = traitlets.Dict().tag(sync=True)

        def __init__(self, live: Live) -> None:
            self._live = live
            told = data(live, list(PAGES))
            super().__init__(sheet=bundle.style(), data=told, edits=dict(NO_EDITS))

    return Widget


def edits_of(told: Mapping[str, Any]) -> Edits:
    """Return the edits that the browser sends.

    Raises:
        CrfvizError: they are no edits.
    """
    try:
        return Edits(
            {(before, after): _score(value) for before, after, value in told["transitions"]},
            {(position, tag): _score(value) for position, tag, value in told["emissions"]},
            told["strength"],
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, CrfvizError):
            raise
        raise CrfvizError(f"expected edits, got {abbreviate_value(told)}") from error


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
    what is on the screen, and setting `potentials` draws another chain. Without it is the live file
    in a frame, which tells Python nothing.

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


HEIGHT = 640  # pixels


def framed(live: Live) -> str:
    """Return an iframe with the whole live file."""
    page = escape(live_page(live, list(PAGES)))
    return (
        f'<iframe srcdoc="{page}" title="crfviz" '
        'sandbox="allow-scripts allow-downloads allow-modals allow-popups" '
        f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
    )
