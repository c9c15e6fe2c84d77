"""The draft of a lecture as one immutable value with undo; it uses no Streamlit and no files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from crfviz.ui.lectures.lecture import BELOW, MAX_CUES, Cue, Lecture
from crfviz.ui.state.event_parser import RefusedError
from crfviz.ui.state.link_text import TOUR
from crfviz.ui.state.scenario import ASK, ASKED, SAID, History, Scenario, covered, with_covered
from crfviz.views.contents import VIEW
from crfviz.views.quiz.selection import can_ask

EMPTY = Lecture("My lecture", 10.0, (), ())
# Page options that belong to the room or the reader, and are not stored in a cue.
NOT_OF_A_CUE = ("theme", "sidebar", "no_letters", "by", VIEW, TOUR, ASK, ASKED, SAID)


@dataclass(frozen=True)
class Draft:
    """A lecture that is being edited, with a chosen cue; its methods return new drafts."""

    lecture: Lecture = EMPTY
    chosen: int = 0  # index of the chosen cue
    history: History[Lecture] = field(default_factory=History[Lecture])

    @property
    def cue(self) -> Cue | None:
        """The chosen cue; None without cues."""
        cues = self.lecture.cues
        return cues[self.chosen] if self.chosen < len(cues) else None

    def after(self, lecture: Lecture, chosen: int | None = None) -> Draft:
        """Return the draft with another lecture, other cue, or both; the change can be undone.

        Args:
            lecture: the new lecture; an equal one adds no undo step.
            chosen: index of the new chosen cue, clipped to the cues; None keeps the index.
        """
        place = self.chosen if chosen is None else chosen
        place = max(0, min(place, len(lecture.cues) - 1))
        if lecture == self.lecture:
            return replace(self, chosen=place)
        return Draft(lecture, place, self.history.pushed(self.lecture))

    def undone(self) -> Draft:
        """Return the draft before the last change."""
        return self._travelled(self.history.undone)

    def redone(self) -> Draft:
        """Return the draft before the last undo."""
        return self._travelled(self.history.redone)

    def _travelled(self, go: Callable[[Lecture], tuple[Lecture, History[Lecture]]]) -> Draft:
        lecture, history = go(self.lecture)
        return Draft(lecture, max(0, min(self.chosen, len(lecture.cues) - 1)), history)


def with_screen(lecture: Lecture, page: str, scenario: Scenario) -> Lecture:
    """Append a screen as a cue.

    Raises:
        RefusedError: the lecture is full.
    """
    if len(lecture.cues) >= MAX_CUES:
        raise RefusedError(f"A lecture has at most {MAX_CUES} cues. Take one out first.")
    view = with_covered(scenario.view, covered(scenario.view))
    kept = {name: value for name, value in view.items() if _is_of_a_cue(name, value)}
    ask = scenario.view.get(ASKED, "") if ASK in scenario.view and can_ask(page) else ""
    cue = Cue(page, replace(scenario, view=kept), say="", holds=(), place="", ask=ask)
    return replace(lecture, cues=(*lecture.cues, cue))


def moved(lecture: Lecture, at: int, by: int) -> Lecture:
    """Move the cue at index `at` by `by` places; it stops at the ends."""
    cues = list(lecture.cues)
    cue = cues.pop(at)
    cues.insert(max(0, min(at + by, len(cues))), cue)
    return replace(lecture, cues=tuple(cues))


def without(lecture: Lecture, at: int) -> Lecture:
    """Return the lecture without the cue at index `at`."""
    return replace(lecture, cues=(*lecture.cues[:at], *lecture.cues[at + 1 :]))


def with_cue(lecture: Lecture, at: int, cue: Cue) -> Lecture:
    """Return the lecture with `cue` in place of the one at index `at`."""
    return replace(lecture, cues=(*lecture.cues[:at], cue, *lecture.cues[at + 1 :]))


def with_parts_covered(cue: Cue, parts: list[str]) -> Cue:
    """Return the cue with exactly these parts of its picture covered."""
    view: Mapping[str, str] = with_covered(cue.scenario.view, parts)
    return replace(cue, scenario=replace(cue.scenario, view=view))


def with_below(cue: Cue, *, wanted: bool) -> Cue:
    """Return the cue that shows the content below the picture if `wanted`, else the picture."""
    view = {name: value for name, value in cue.scenario.view.items() if name != BELOW}
    view |= {BELOW: "1"} if wanted else {}
    return replace(cue, scenario=replace(cue.scenario, view=view))


def _is_of_a_cue(name: str, value: str) -> bool:
    """Return whether a cue may store a page option; those that name a snapshot are dropped."""
    return name not in NOT_OF_A_CUE and not value.startswith("snapshot ")
