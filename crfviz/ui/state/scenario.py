"""The state of the screen as one immutable value, and the functions that change it.

This module uses neither Streamlit nor files. `crfviz.ui.session.scenario_state` holds the current
state of a session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from crfviz.chain.edits import END, START, Edits
from crfviz.chain.pattern_syntax import MAX_LENGTH
from crfviz.text.tokenizer import GAP, given_words
from crfviz.ui.words import clean
from crfviz.views.contents import VIEW
from crfviz.views.stage.picture import WINDOW
from crfviz.views.strips.decoders import LABELS, USUAL_ROWS

State = TypeVar("State")

MAX_WORDS = WINDOW  # words drawn at once; of longer sentences a window or the beginning
MAX_CHARACTERS = 15_000  # characters of a sentence: as many as fit into a link
MAX_SCORE = 1e6  # absolute value of an edited weight
MAX_STRENGTH = 2.0
MAX_STEP = 10_000
BEFORE_FIRST = -1  # the step before the first, because 0 means where the page opens
MAX_HISTORY = 50  # undo steps
# page options: whether a question is asked, which one, the answer
ASK, ASKED, SAID = "ask", "asked", "said"
RULE = "rule"  # page option: a rule over the tags, see `crfviz.chain.patterns`
RULE_DRAFT = "draft"  # page option: the beginning of a rejected rule
MAX_DRAFT = MAX_LENGTH + 1  # characters of a draft
# page options: costs of errors, which of them varies, a share, a level, and what it promises
RISK = (COSTS, DIAL, SHARE, LEVEL, OF) = ("costs", "dial", "share", "level", "of")
ON_RISK = (*RISK, "risk", "within", "true", "taken")  # page options of the page Risk
DEFAULT_LEVEL = 90  # per cent, of calibrated sets
LIST, PLACE = "list", "place"  # page options: the digest of a list of errors, and the place in it
DO, TRIES = "do", "tries"  # page options: an exercise as kind.seed, and the answers so far
UNDONE = (DO, TRIES, *RISK)  # page options that are part of a step of undo
FROM = "from"  # page option: the first word of the window of a long sentence, from 0
THEIRS = "theirs"  # page option: the tags of another tagger, as `places_text` writes them
WORD = "word"  # page option: the word whose tag is explained below the picture, from 0
_NAMING = ("at", "cell", "chosen", WORD, FROM, "entity", "nudge", LIST, "own", PLACE, THEIRS)
# page options that name tags
OF_TAGS = (
    *("at", "cell", "chosen", "entity", "nudge", "weight", "gold", "predicted"),
    *("lse_tag", "batch_tag", "shift_tag", "true", "taken", COSTS),
)
OF_POSITIONS = (*_NAMING, ASKED, SAID)  # page options that another sentence drops
OF_PAGE = (VIEW, "panel", ASKED, SAID, "handout", "below")  # page options that another page drops
ROWS, HIDE = "rows", "hide"  # page options: the decoder rows to draw, other parts to hide
OTHERS = ("path", "note", "score", "lattice")  # parts of a picture besides the decoder rows
PARTS = (*LABELS, *OTHERS)
EVERY_ROW = ".".join(USUAL_ROWS)
NO_ROW = "none"


@dataclass(frozen=True)
class Changes:
    """The changes that the reader made by hand, which undo restores together."""

    edits: Edits = field(default_factory=Edits)
    pins: Mapping[int, str] = field(default_factory=dict)
    right: Mapping[int, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)  # the page options in UNDONE

    def without_positions(self) -> Changes:
        """Return only the changes that also apply to another sentence: edits of transitions."""
        return Changes(replace(self.edits, emissions={}), options=self.options)

    def for_words(self, number: int) -> Changes:
        """Return only the changes that apply to a sentence of `number` words."""
        emissions = self.edits.emissions.items()
        return Changes(
            replace(self.edits, emissions={cell: n for cell, n in emissions if cell[0] < number}),
            {position: tag for position, tag in self.pins.items() if position < number},
            {position: tag for position, tag in self.right.items() if position < number},
            self.options,
        )

    def for_tags(self, tags: Sequence[str]) -> Changes:
        """Return only the changes that apply to a model with these tags."""
        return Changes(
            edits_for_tags(self.edits, tags),
            {position: tag for position, tag in self.pins.items() if tag in tags},
            {position: tag for position, tag in self.right.items() if tag in tags},
            self.options,
        )


@dataclass(frozen=True)
class Scenario:
    """The state of the screen: everything that a link contains."""

    model: str
    sentence: str  # as typed
    edits: Edits = field(default_factory=Edits)  # difference from the trained model
    pins: Mapping[int, str] = field(default_factory=dict)  # position to tag
    right: Mapping[int, str] = field(default_factory=dict)  # position to tag, as the reader marked
    view: Mapping[str, str] = field(default_factory=dict)  # page options not at their default
    step: int = 0  # steps done of the page's walk; 0: as the page opens, BEFORE_FIRST: none

    @property
    def changes(self) -> Changes:
        """Edits, pins, right tags, answers of an exercise and costs, as one step of undo."""
        options = {name: self.view[name] for name in UNDONE if name in self.view}
        return Changes(self.edits, self.pins, self.right, options)

    def with_changes(self, changes: Changes) -> Scenario:
        """Return the scenario with other edits, pins, right tags, answers and costs."""
        others = {name: text for name, text in self.view.items() if name not in UNDONE}
        view = {**others, **changes.options}
        return replace(self, edits=changes.edits, pins=changes.pins, right=changes.right, view=view)


@dataclass(frozen=True)
class History(Generic[State]):
    """Undo and redo stacks of immutable states; the top of each stack is the last element."""

    past: tuple[State, ...] = ()
    future: tuple[State, ...] = ()

    def pushed(self, before: State) -> History[State]:
        """Return the history after `before` was replaced: at most 50 undo steps, no redo steps."""
        return History(past=(*self.past, before)[-MAX_HISTORY:])

    def undone(self, now: State) -> tuple[State, History[State]]:
        """Return the state before `now`, if any, and the history that can redo `now`."""
        if not self.past:
            return now, self
        return self.past[-1], History(self.past[:-1], (*self.future, now))

    def redone(self, now: State) -> tuple[State, History[State]]:
        """Return the state that was undone last, if any, and the history that can undo it."""
        if not self.future:
            return now, self
        return self.future[-1], History((*self.past, now), self.future[:-1])

    def mapped(self, rule: Callable[[State], State], now: State) -> History[State]:
        """Return the history after `rule` on each state, without steps that change nothing."""
        return History(_distinct(self.past, rule, now), _distinct(self.future, rule, now))


def as_typed(text: str) -> str:
    """Return a typed text as a sentence: cleaned, stripped, and cut to `MAX_CHARACTERS`.

    Two blanks after a single word stay, because they mark the text as one word.
    """
    cut = clean(text[:MAX_CHARACTERS])
    bare = cut.strip()
    return bare if given_words(bare) == given_words(cut) else bare + GAP


def with_sentence(scenario: Scenario, sentence: str) -> Scenario:
    """Return the scenario on another sentence.

    Transition edits stay. Everything that refers to word positions is dropped: edits of single
    words, pins, right tags, the step, and page options about a word. A sentence that differs only
    in outer blanks drops nothing.
    """
    sentence = as_typed(sentence)
    if sentence == scenario.sentence:
        return scenario
    view = {name: value for name, value in scenario.view.items() if name not in OF_POSITIONS}
    kept = scenario.with_changes(scenario.changes.without_positions())
    return replace(kept, sentence=sentence, view=view, step=0)


def for_tags(scenario: Scenario, tags: Sequence[str]) -> tuple[Scenario, list[str]]:
    """Return the scenario without edits, pins and right tags of tags that its model lacks.

    Returns:
        The scenario, and the unknown tags in alphabetical order.
    """
    unknown = tags_of(scenario.edits) | {*scenario.pins.values(), *scenario.right.values()}
    fitted = scenario.with_changes(scenario.changes.for_tags(tags))
    return fitted, sorted(unknown - set(tags))


def edits_for_tags(edits: Edits, tags: Sequence[str]) -> Edits:
    """Return only the edits that apply to a model with these tags."""
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
    """Return all tag names in the edits."""
    sources = {source for source, _ in edits.transitions} - {START}
    targets = {target for _, target in edits.transitions} - {END}
    return sources | targets | {tag for _, tag in edits.emissions}


def _distinct(
    steps: tuple[State, ...], rule: Callable[[State], State], now: State
) -> tuple[State, ...]:
    """Return `rule` of each state, without states equal to the next one; `now` ends the stack."""
    kept: list[State] = []
    for step in map(rule, reversed(steps)):
        if step != (kept[-1] if kept else now):
            kept.append(step)
    return tuple(reversed(kept))


def wanted_rows(chosen: str) -> list[str]:
    """Return the decoder rows of the option `rows` in order; ignore unknown names."""
    names = chosen.split(".")
    return [row for row in LABELS if row in names]


def rows_option(rows: Collection[str]) -> str:
    """Return the value of the option `rows` for these decoder rows; `wanted_rows` parses it."""
    return ".".join(row for row in LABELS if row in rows) or NO_ROW


def covered(view: Mapping[str, str]) -> list[str]:
    """Return the hidden parts, in the order of `PARTS`."""
    rows, others = wanted_rows(view.get(ROWS, EVERY_ROW)), view.get(HIDE, "").split(".")
    hidden = {*USUAL_ROWS} - {*rows} | {*OTHERS} & {*others}
    return [part for part in PARTS if part in hidden]


def with_covered(view: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """Return the page options, changed so that exactly these parts are hidden."""
    existing = {*USUAL_ROWS, *wanted_rows(view.get(ROWS, EVERY_ROW))}
    rows = rows_option([row for row in existing if row not in parts])
    hidden = ".".join(part for part in OTHERS if part in parts)
    options = {name: value for name, value in view.items() if name not in (ROWS, HIDE)}
    if rows != EVERY_ROW:
        options[ROWS] = rows
    if hidden:
        options[HIDE] = hidden
    return options
