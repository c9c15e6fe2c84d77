"""A lecture in the making, as one value: its cues, the chosen one, and what can be undone.

Pure: no Streamlit, no files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from crfviz.ui.lectures.lecture import BELOW, MOST_CUES, Cue, Lecture
from crfviz.ui.state.events import RefusedError
from crfviz.ui.state.link import TOUR
from crfviz.ui.state.scenario import ASK, ASKED, MAX_HISTORY, SAID, Scenario, covered, with_covered
from crfviz.views.quiz.selection import can_ask

EMPTY = Lecture("My lecture", 10.0, (), ())
NOT_OF_A_CUE = (
    "theme",
    "sidebar",
    "no_letters",
    "by",
    TOUR,
    ASK,
    ASKED,
    SAID,
)  # of the room or a person


@dataclass(frozen=True)
class Draft:
    """Methods return new drafts; each change can be undone."""

    lecture: Lecture = EMPTY
    chosen: int = 0  # the place of the cue that is edited, from 0
    past: tuple[Lecture, ...] = ()  # the nearest last
    future: tuple[Lecture, ...] = ()

    @property
    def cue(self) -> Cue | None:
        """The chosen one."""
        cues = self.lecture.cues
        return cues[self.chosen] if self.chosen < len(cues) else None

    def after(self, lecture: Lecture, chosen: int | None = None) -> Draft:
        """With another lecture, and another cue chosen."""
        place = self.chosen if chosen is None else chosen
        place = max(0, min(place, len(lecture.cues) - 1))
        if lecture == self.lecture:
            return replace(self, chosen=place)
        return Draft(lecture, place, (*self.past, self.lecture)[-MAX_HISTORY:])

    def undone(self) -> Draft:
        """As before the last change, if there was one."""
        if not self.past:
            return self
        before = Draft(self.past[-1], self.chosen, self.past[:-1], (*self.future, self.lecture))
        return replace(before, chosen=max(0, min(self.chosen, len(before.lecture.cues) - 1)))

    def redone(self) -> Draft:
        """With the last undo taken back, if there was one."""
        if not self.future:
            return self
        after = Draft(self.future[-1], self.chosen, (*self.past, self.lecture), self.future[:-1])
        return replace(after, chosen=max(0, min(self.chosen, len(after.lecture.cues) - 1)))


def with_screen(lecture: Lecture, page: str, scenario: Scenario) -> Lecture:
    """With one more cue: what is on the screen.

    Raises:
        RefusedError: there is no room for it.
    """
    if len(lecture.cues) >= MOST_CUES:
        raise RefusedError(f"A lecture has at most {MOST_CUES} cues. Take one out first.")
    view = with_covered(scenario.view, covered(scenario.view))
    kept = {name: value for name, value in view.items() if _is_of_a_cue(name, value)}
    ask = scenario.view.get(ASKED, "") if ASK in scenario.view and can_ask(page) else ""
    cue = Cue(page, replace(scenario, view=kept), say="", holds=(), place="", ask=ask)
    return replace(lecture, cues=(*lecture.cues, cue))


def moved(lecture: Lecture, at: int, by: int) -> Lecture:
    """With the cue at a place, from 0, so many places further on; it stops at the ends."""
    cues = list(lecture.cues)
    cue = cues.pop(at)
    cues.insert(max(0, min(at + by, len(cues))), cue)
    return replace(lecture, cues=tuple(cues))


def without(lecture: Lecture, at: int) -> Lecture:
    """Without the cue at a place."""
    return replace(lecture, cues=(*lecture.cues[:at], *lecture.cues[at + 1 :]))


def with_cue(lecture: Lecture, at: int, cue: Cue) -> Lecture:
    """With another cue at a place."""
    return replace(lecture, cues=(*lecture.cues[:at], cue, *lecture.cues[at + 1 :]))


def with_parts_covered(cue: Cue, parts: list[str]) -> Cue:
    """With exactly these parts covered."""
    view: Mapping[str, str] = with_covered(cue.scenario.view, parts)
    return replace(cue, scenario=replace(cue.scenario, view=view))


def with_below(cue: Cue, *, wanted: bool) -> Cue:
    """With what the page has below its picture in the picture's place, or with the picture."""
    view = {name: value for name, value in cue.scenario.view.items() if name != BELOW}
    view |= {BELOW: "1"} if wanted else {}
    return replace(cue, scenario=replace(cue.scenario, view=view))


def _is_of_a_cue(name: str, value: str) -> bool:
    """Snapshots lie in a session, which a file does not reach."""
    return name not in NOT_OF_A_CUE and not value.startswith("snapshot ")
