"""The live stage in a notebook: the live file in a frame of its own."""

from collections.abc import Sequence
from html import escape

from crfviz.views.exports.live import PAGES, Live
from crfviz.views.exports.page import live_page
from crfviz.views.exports.subject import What, live_of

HEIGHT = 640  # pixels of the frame


class Shown:
    """What `crfviz.show` gives: notebooks draw it, also long after their kernel has ended."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def _repr_html_(self) -> str:
        """The live file in a frame that reaches nothing outside."""
        page = escape(live_page(self._live, list(PAGES)))
        return (
            f'<iframe srcdoc="{page}" title="crfviz" '
            'sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"crfviz.show: {len(self._live.now.words)} words, {len(self._live.now.tags)} tags"


def show(what: What, sentence: str | Sequence[str] | None = None) -> Shown:
    """The live stage for a notebook.

    Args:
        what: potentials, best with their words, or a tagger.
        sentence: for a tagger its sentence, as typed or as words; at most 120 words.

    Raises:
        CrfvizError: it is not one of these.

    Example:
        >>> from crfviz.chain.potentials import Potentials
        >>> show(Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]]))
        crfviz.show: 2 words, 2 tags
    """
    return Shown(live_of(what, sentence))
