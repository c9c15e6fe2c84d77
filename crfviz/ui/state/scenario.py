"""The whole state of a lecture as one value, and the rules by which it changes.

Pure: no Streamlit, no files. `crfviz.ui.session.current` keeps the one that is current.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crfviz.chain.edits import END, START, Edits
from crfviz.text.tokenizer import GAP, given_words
from crfviz.ui.words import clean
from crfviz.views.stage.picture import WINDOW
from crfviz.views.strips.decoders import LABELS, USUAL_ROWS

MAX_WORDS = WINDOW  # drawn at once; a page cuts the others off, or draws a window
MAX_CHARACTERS = 15_000  # of a sentence: as many letters as a link holds
MAX_SCORE = 1e6  # of an edited weight, either side of zero
MAX_STRENGTH = 2.0
MAX_STEP = 10_000
BEFORE_FIRST = -1  # as a step: none is done, where the page would open with some
MAX_HISTORY = 50  # undo steps
ASK, ASKED, SAID = "ask", "asked", "said"  # whether a question is asked, which one, the answer
RULE = "rule"  # page option: a rule over the tags, see `crfviz.chain.patterns`
LIST, PLACE = "list", "place"  # page options: the digest of a list of errors, and the place in it
FROM = "from"  # page option: the first word of the window of a long sentence, from 0
_NAMING = ("at", "cell", "chosen", FROM, "entity", "nudge", LIST, "own", PLACE)
OF_POSITIONS = (*_NAMING, ASKED, SAID)  # page options of one sentence only
OF_PAGE = ("panel", ASKED, SAID, "handout", "below")  # and of one page


@dataclass(frozen=True)
class Changes:
    """What the reader changed by hand, and can undo."""

    edits: Edits = field(default_factory=Edits)
    pins: Mapping[int, str] = field(default_factory=dict)
    right: Mapping[int, str] = field(default_factory=dict)

    def without_positions(self) -> Changes:
        """Those that still mean something on another sentence."""
        return Changes(replace(self.edits, emissions={}))

    def for_words(self, number: int) -> Changes:
        """Those that mean something in a sentence of so many words."""
        emissions = self.edits.emissions.items()
        return Changes(
            replace(self.edits, emissions={cell: n for cell, n in emissions if cell[0] < number}),
            {position: tag for position, tag in self.pins.items() if position < number},
            {position: tag for position, tag in self.right.items() if position < number},
        )

    def for_tags(self, tags: Sequence[str]) -> Changes:
        """Those that mean something to a model with these tags."""
        return Changes(
            edits_for_tags(self.edits, tags),
            {position: tag for position, tag in self.pins.items() if tag in tags},
            {position: tag for position, tag in self.right.items() if tag in tags},
        )


@dataclass(frozen=True)
class Scenario:
    """What is on the screen: everything a link must carry."""

    model: str
    sentence: str  # as typed
    edits: Edits = field(default_factory=Edits)  # difference from the trained model
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    right: Mapping[int, str] = field(default_factory=dict)  # position to tag, as the reader marked
    view: Mapping[str, str] = field(default_factory=dict)  # page options not at their default
    step: int = 0  # steps done of the page's walk; 0: where it opens, BEFORE_FIRST: none

    @property
    def changes(self) -> Changes:
        """Edits, pins and right tags, as one step of undo."""
        return Changes(self.edits, self.pins, self.right)

    def with_changes(self, changes: Changes) -> Scenario:
        """The same with other edits, pins and right tags."""
        return replace(self, edits=changes.edits, pins=changes.pins, right=changes.right)


@dataclass(frozen=True)
class History:
    """Changes that were, and changes that were undone; the nearest last."""

    past: tuple[Changes, ...] = ()
    future: tuple[Changes, ...] = ()

    def pushed(self, changes: Changes) -> History:
        """The history after `changes` were replaced by newer ones; at most 50 steps are kept."""
        return History(past=(*self.past, changes)[-MAX_HISTORY:])

    def undone(self, changes: Changes) -> tuple[Changes, History]:
        """The changes before `changes`, and the history from which those can be redone."""
        return self.past[-1], History(self.past[:-1], (*self.future, changes))

    def redone(self, changes: Changes) -> tuple[Changes, History]:
        """The changes undone last, and the history from which they can be undone again."""
        return self.future[-1], History((*self.past, changes), self.future[:-1])

    def without_positions(self, now: Changes) -> History:
        """The history for another sentence: what speaks of single words is gone from every step."""
        return self._each(Changes.without_positions, now)

    def for_tags(self, tags: Sequence[str], now: Changes) -> History:
        """The history for another model: what speaks of tags it lacks is gone from every step."""
        return self._each(lambda changes: changes.for_tags(tags), now)

    def _each(self, rule: Callable[[Changes], Changes], now: Changes) -> History:
        return History(_distinct(self.past, rule, now), _distinct(self.future, rule, now))


def as_typed(text: str) -> str:
    """A text as a sentence: no longer than one may be, without blanks at its ends.

    Two blanks behind a single word stay, for they say that it is one; see `text.tokenizer`.
    """
    cut = clean(text[:MAX_CHARACTERS])
    bare = cut.strip()
    return bare if given_words(bare) == given_words(cut) else bare + GAP


def with_sentence(scenario: Scenario, sentence: str) -> Scenario:
    """The scenario on another sentence.

    Transition edits stay. Edits of single words, pins, right tags, the step and what was asked
    about a word go: positions no longer mean the same. Blanks at its ends are no other sentence.
    """
    sentence = as_typed(sentence)
    if sentence == scenario.sentence:
        return scenario
    view = {name: value for name, value in scenario.view.items() if name not in OF_POSITIONS}
    kept = scenario.with_changes(scenario.changes.without_positions())
    return replace(kept, sentence=sentence, view=view, step=0)


def for_tags(scenario: Scenario, tags: Sequence[str]) -> tuple[Scenario, list[str]]:
    """The scenario without edits, pins and right tags that its model, with K tags, does not have.

    Returns:
        The scenario that fits, and the tags that were asked for in vain, in alphabetical order.
    """
    unknown = tags_of(scenario.edits) | {*scenario.pins.values(), *scenario.right.values()}
    fitted = scenario.with_changes(scenario.changes.for_tags(tags))
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
    steps: tuple[Changes, ...], rule: Callable[[Changes], Changes], now: Changes
) -> tuple[Changes, ...]:
    """Every step after `rule`, without those that became equal to the one that follows."""
    kept: list[Changes] = []
    for step in map(rule, reversed(steps)):
        if step != (kept[-1] if kept else now):
            kept.append(step)
    return tuple(reversed(kept))


ROWS, HIDE = "rows", "hide"
OTHERS = ("path", "note", "score", "lattice")  # beside the rows
PARTS = (*LABELS, *OTHERS)
EVERY_ROW = ".".join(USUAL_ROWS)
NO_ROW = "none"


def wanted_rows(chosen: str) -> list[str]:
    """The decoder rows of the option `rows`, in their order; what is no row is left out."""
    wanted = chosen.split(".")
    return [row for row in LABELS if row in wanted]


def rows_option(wanted: Collection[str]) -> str:
    """The option `rows` that names these decoder rows: what `wanted_rows` reads."""
    return ".".join(row for row in LABELS if row in wanted) or NO_ROW


def covered(view: Mapping[str, str]) -> list[str]:
    """The parts that are switched off, in the order of `PARTS`."""
    rows, others = wanted_rows(view.get(ROWS, EVERY_ROW)), view.get(HIDE, "").split(".")
    hidden = {*USUAL_ROWS} - {*rows} | {*OTHERS} & {*others}
    return [part for part in PARTS if part in hidden]


def with_covered(view: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """The page options after exactly these parts were switched off."""
    there = {*USUAL_ROWS, *wanted_rows(view.get(ROWS, EVERY_ROW))}
    rows = rows_option([row for row in there if row not in parts])
    hidden = ".".join(part for part in OTHERS if part in parts)
    options = {name: value for name, value in view.items() if name not in (ROWS, HIDE)}
    if rows != EVERY_ROW:
        options[ROWS] = rows
    if hidden:
        options[HIDE] = hidden
    return options
