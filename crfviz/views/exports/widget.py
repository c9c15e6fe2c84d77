"""The stage as a widget: what is edited in a notebook comes back to Python. Needs anywidget."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.text.files import abbreviate_value
from crfviz.views.exports import bundle
from crfviz.views.exports.frame import framed
from crfviz.views.exports.live import PAGES, Live, data

NO_EDITS: Mapping[str, object] = {"transitions": [], "emissions": [], "strength": 1.0}


class OnScreen:
    """What a widget is to Python: `potentials` and `path` are what is on the screen."""

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
        """The live file as it is now, for notebooks that are opened without a kernel."""
        return framed(replace(self._live, edits=edits_of(self.edits)))


def widget(live: Live) -> Any:  # noqa: ANN401 - anywidget may not be there
    """The widget of a chain.

    Raises:
        ImportError: anywidget is not installed.
    """
    return _widget_class()(live)


@cache
def _widget_class() -> Any:  # noqa: ANN401 - likewise
    """Made when it is asked for: nothing else needs anywidget."""
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
    """The edits that the browser tells.

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
