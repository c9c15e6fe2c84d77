"""The events of the stage, and what each does to the scenario; `event_parser` parses them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crfviz.chain.edits import Edits
from crfviz.ui.state.scenario import OF_POSITIONS, WORD, Scenario, with_covered

CHOSEN = "chosen"  # page option: the cell in the side panel, until the next step
COMMANDS, TURNS = ("undo", "redo", "reset"), ("next", "previous")


@dataclass(frozen=True, kw_only=True)
class Event:
    """The fields that all events share; an event of this class itself requests a whole payload."""

    sentence: object = None  # the text that its positions refer to; None if unknown
    has: object = None  # name of the browser's whole payload; None if it needs one

    def is_for(self, sentence: str) -> bool:
        return self.sentence in (None, sentence) or not self.is_about_words()

    def is_about_words(self) -> bool:
        return False

    def apply(self, scenario: Scenario) -> Scenario:
        """Return the scenario after the event; the caller must handle commands."""
        return scenario


class WordEvent(Event):
    """An event about words of the sentence."""

    def is_about_words(self) -> bool:
        return True


class Edit(Event):
    """An event that changes the edits."""

    def apply(self, scenario: Scenario) -> Scenario:
        return replace(scenario, edits=self.edited(scenario.edits))

    def edited(self, edits: Edits) -> Edits:
        raise NotImplementedError


@dataclass(frozen=True)
class Transition(Edit):
    """The score of a transition changed."""

    source: str
    target: str
    score: float  # nats

    def edited(self, edits: Edits) -> Edits:
        return edits.with_transition(self.source, self.target, self.score)


@dataclass(frozen=True)
class Emission(Edit, WordEvent):
    """The emission score of a tag at one word changed."""

    position: int
    tag: str
    score: float  # nats

    def edited(self, edits: Edits) -> Edits:
        return edits.with_emission(self.position, self.tag, self.score)


@dataclass(frozen=True)
class Restore(Edit):
    """One edited score was reset to the trained one."""

    cell: tuple[str, str] | tuple[int, str]

    def is_about_words(self) -> bool:
        return isinstance(self.cell[0], int)

    def edited(self, edits: Edits) -> Edits:
        return edits.without(self.cell)


@dataclass(frozen=True)
class Strength(Edit):
    """The strength of the transitions changed."""

    value: float

    def edited(self, edits: Edits) -> Edits:
        return replace(edits, strength=self.value)


@dataclass(frozen=True)
class Constrained(Edit):
    """The constraints of the tagger were switched on or off."""

    value: bool

    def edited(self, edits: Edits) -> Edits:
        return replace(edits, constrained=self.value)


@dataclass(frozen=True)
class Right(WordEvent):
    """The reader marked a tag as right."""

    position: int
    tag: str

    def apply(self, scenario: Scenario) -> Scenario:
        return replace(scenario, right={**scenario.right, self.position: self.tag})


@dataclass(frozen=True)
class Step(WordEvent):
    """The walk moved to another step."""

    value: int

    def apply(self, scenario: Scenario) -> Scenario:
        view = {name: option for name, option in scenario.view.items() if name != CHOSEN}
        return replace(scenario, step=self.value, view=view)


@dataclass(frozen=True)
class Cover(Event):
    """Exactly these parts of the picture are hidden."""

    parts: Sequence[str]

    def apply(self, scenario: Scenario) -> Scenario:
        return replace(scenario, view=with_covered(scenario.view, self.parts))


@dataclass(frozen=True)
class View(Event):
    """A page option changed."""

    name: str
    value: str

    def is_about_words(self) -> bool:
        return self.name in OF_POSITIONS

    def apply(self, scenario: Scenario) -> Scenario:
        view = {option: text for option, text in scenario.view.items() if option != self.name}
        closes = self.name == WORD and scenario.view.get(WORD) == self.value  # a second click
        return replace(scenario, view=view if closes else {**view, self.name: self.value})


@dataclass(frozen=True)
class Command(Event):
    """A command: one of `COMMANDS`, which undo or redo edits, or of `TURNS`, which open a page."""

    name: str
