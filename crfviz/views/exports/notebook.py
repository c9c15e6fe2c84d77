"""The live stage in a notebook: the live file in a frame of its own."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from crfviz.views.exports.frame import framed
from crfviz.views.exports.live import Live
from crfviz.views.exports.subject import What, live_of
from crfviz.views.exports.widget import widget


class Shown:
    """What `crfviz.show` gives: notebooks draw it, also long after their kernel has ended."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def _repr_html_(self) -> str:
        return framed(self._live)

    def __repr__(self) -> str:
        return f"crfviz.show: {len(self._live.now.words)} words, {len(self._live.now.tags)} tags"


def show(what: What, sentence: str | Sequence[str] | None = None) -> Any:  # noqa: ANN401 - of two kinds
    """The live stage for a notebook.

    With anywidget (`pip install "crfviz[notebook]"`) it is a widget: `potentials` and `path` are
    what is on the screen, and setting `potentials` draws another chain. Without it is the live file
    in a frame, which tells Python nothing.

    Args:
        what: potentials, best with their words, or a tagger.
        sentence: for a tagger its sentence, as typed or as words; at most 120 words.

    Raises:
        CrfvizError: it is not one of these.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> shown = show(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
    """
    live = live_of(what, sentence)
    if find_spec("anywidget") is None:
        return Shown(live)
    return widget(live)
