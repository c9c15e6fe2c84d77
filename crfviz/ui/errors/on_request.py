"""Long work on a run that starts by a button, with a progress bar and Stop."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from crfviz.corpus.run.tagging import Progress
from crfviz.exceptions import CrfvizError
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.session.scheduling import turn
from crfviz.ui.session.session_store import get_value, set_value
from crfviz.ui.streamlit_compat import DeltaGenerator, is_fragment_run
from crfviz.ui.words import plain


@dataclass(frozen=True)
class OnRequest:
    """Work whose result stays with the run."""

    name: str  # begins the keys of its widgets and session values
    button: str  # label
    doing: str  # label of the progress bar

    def result(self, analysis: Analysed) -> Any:  # noqa: ANN401 - of the work
        """Return the result; None if the work is not done."""
        return analysis.made.get(self.name)

    def draw_button(self, analysis: Analysed, about: str | None = None) -> None:
        """Draw the button that starts the work, in a fragment, and why the last try failed."""
        running = get_value(self._requested) == analysis.key
        st.button(
            self.button,
            on_click=set_value,
            args=(self._requested, analysis.key),
            disabled=running,
            help=about,
            key=f"{self.name}.start.{analysis.key}",
        )
        if running and is_fragment_run():
            set_value(self._problem, "")
            st.rerun()  # rerun the page: Stop could not end a fragment
        if problem := get_value(self._problem):
            st.info(plain(problem))

    def run_if_requested(
        self, analysis: Analysed, place: DeltaGenerator, work: Callable[[Progress], object]
    ) -> None:
        """Do the work, with a progress bar at `place`, if the reader has clicked the button."""
        if get_value(self._requested) != analysis.key or self.name in analysis.made:
            return
        with place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(0.0, self.doing)
            stop = (self._requested, "")
            st.button("Stop", on_click=set_value, args=stop, key=f"{self.name}.stop")

        def report(done: int, total: int) -> None:  # raises after a click on Stop
            bar.progress(done / total, f"{self.doing}: {100 * done // total} %")

        try:
            with turn(lambda words: bar.progress(0.0, words)):
                analysis.made[self.name] = work(report)
        except CrfvizError as error:
            set_value(self._problem, str(error))
        set_value(self._requested, "")
        st.rerun()

    @property
    def _requested(self) -> str:
        return f"{self.name}.requested"

    @property
    def _problem(self) -> str:
        return f"{self.name}.problem"
