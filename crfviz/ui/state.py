"""The whole state of a lecture as one value, and the rules by which it changes.

Pure: no Streamlit, no files. `crfviz.ui.scenario` keeps the one that is current.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crfviz.chain.edits import END, START, Edits
from crfviz.ui.words import clean

MAX_WORDS = 120  # drawn; more are cut, and the page says so
MAX_CHARACTERS = 5000  # of a sentence; 120 words seldom have 1000
MAX_SCORE = 1e6  # of an edited weight, either side of zero
MAX_STRENGTH = 2.0
MAX_STEP = 10_000
MAX_HISTORY = 50  # undo steps
OF_POSITIONS = (
    "at",
    "cell",
    "entity",
    "nudge",
)  # page options that mean nothing without their sentence


@dataclass(frozen=True)
class Scenario:
    """What is on the screen: everything a link must carry."""

    model: str
    sentence: str  # as typed
    edits: Edits = field(default_factory=Edits)  # difference from the trained model
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    right: Mapping[int, str] = field(default_factory=dict)  # position to tag, as the reader marked
    view: Mapping[str, str] = field(
        default_factory=dict
    )  # page options that are not at their default
    step: int = 0


@dataclass(frozen=True)
class History:
    """Edits that were, and edits that were undone; the nearest last."""

    past: tuple[Edits, ...] = ()
    future: tuple[Edits, ...] = ()

    def pushed(self, edits: Edits) -> History:
        """The history after `edits` were replaced by newer ones; at most 50 steps are kept."""
        return History(past=(*self.past, edits)[-MAX_HISTORY:])

    def undone(self, edits: Edits) -> tuple[Edits, History]:
        """The edits before `edits`, and the history from which `edits` can be redone."""
        return self.past[-1], History(self.past[:-1], (*self.future, edits))

    def redone(self, edits: Edits) -> tuple[Edits, History]:
        """The edits that were undone last, and the history from which they can be undone again."""
        return self.future[-1], History((*self.past, edits), self.future[:-1])

    def without_positions(self, now: Edits) -> History:
        """The history for another sentence: edits of single words are gone from every step."""
        return self._each(lambda edits: replace(edits, emissions={}), now)

    def for_tags(self, tags: Sequence[str], now: Edits) -> History:
        """The history for another model: edits of tags it lacks are gone from every step."""
        return self._each(lambda edits: edits_for_tags(edits, tags), now)

    def _each(self, rule: Callable[[Edits], Edits], now: Edits) -> History:
        return History(_distinct(self.past, rule, now), _distinct(self.future, rule, now))


def with_sentence(scenario: Scenario, sentence: str) -> Scenario:
    """The scenario on another sentence.

    Transition edits stay. Edits of single words, pins, right tags, the step and what was asked
    about a word go: positions no longer mean the same.
    """
    sentence = clean(sentence)[:MAX_CHARACTERS]
    if sentence == scenario.sentence:
        return scenario
    edits = replace(scenario.edits, emissions={})
    view = {name: value for name, value in scenario.view.items() if name not in OF_POSITIONS}
    return replace(scenario, sentence=sentence, edits=edits, pins={}, right={}, view=view, step=0)


def for_tags(scenario: Scenario, tags: Sequence[str]) -> tuple[Scenario, list[str]]:
    """The scenario without edits, pins and right tags that the model does not have.

    Args:
        scenario: any scenario.
        tags: K tag names of its model.

    Returns:
        The scenario that fits, and the tags that were asked for in vain, in alphabetical order.
    """
    edits = edits_for_tags(scenario.edits, tags)
    pins = {position: tag for position, tag in scenario.pins.items() if tag in tags}
    right = {position: tag for position, tag in scenario.right.items() if tag in tags}
    unknown = tags_of(scenario.edits) | {*scenario.pins.values(), *scenario.right.values()}
    fitted = replace(scenario, edits=edits, pins=pins, right=right)
    return fitted, sorted(unknown - set(tags))


def edits_for_tags(edits: Edits, tags: Sequence[str]) -> Edits:
    """The edits that mean something to a model with these tags."""
    return replace(
        edits,
        transitions={
            (source, target): score
            for (source, target), score in edits.transitions.items()
            if (source == START or source in tags) and (target == END or target in tags)
        },
        emissions={
            (position, tag): score
            for (position, tag), score in edits.emissions.items()
            if tag in tags
        },
    )


def tags_of(edits: Edits) -> set[str]:
    """All tag names that the edits speak of."""
    sources = {source for source, _ in edits.transitions} - {START}
    targets = {target for _, target in edits.transitions} - {END}
    return sources | targets | {tag for _, tag in edits.emissions}


def _distinct(
    steps: tuple[Edits, ...], rule: Callable[[Edits], Edits], now: Edits
) -> tuple[Edits, ...]:
    """Every step after `rule`, without those that became equal to the one that follows."""
    kept: list[Edits] = []
    for step in map(rule, reversed(steps)):
        if step != (kept[-1] if kept else now):
            kept.append(step)
    return tuple(reversed(kept))
