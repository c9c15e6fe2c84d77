"""Everything a page draws: the sentence, its numbers as trained and as they are now."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.patterns import Automaton, automaton
from crfviz.chain.questions.rules import Ruled
from crfviz.exceptions import CrfvizError
from crfviz.taggers.examples import Example
from crfviz.taggers.tagger import HMM, MEMM, Tagger
from crfviz.ui import cached
from crfviz.ui.session.current import number_option, scenario, view_option
from crfviz.ui.session.kept import found, keep
from crfviz.ui.state.scenario import EVERY_ROW, FROM, MAX_WORDS, ROWS, RULE, Scenario, wanted_rows
from crfviz.ui.words import plain
from crfviz.views.formatting import claim_text
from crfviz.views.strips.decoders import LABELS

MOST_COUNTED = 150  # copies of tags: more take longer than 100 ms, for 120 words

_CLAIM, _PLACE, _TOLD = "point.claim", "point.place", "point.told"


@dataclass(frozen=True, eq=False)
class Scene:
    """One sentence under one model, as trained and with the scenario's edits."""

    scenario: Scenario
    model: str
    tagger: Tagger
    tags: tuple[str, ...]  # K tag names, in id order
    words: tuple[str, ...]  # T words, at most 120
    total_words: int  # of the sentence as typed
    first: int  # position of the first of them in the sentence
    trained: Analysis
    now: Analysis  # the same object as `trained` where nothing is edited or pinned
    gold: list[int] | None  # T tag ids; None where nobody knows

    @property
    def edited(self) -> bool:
        """Whether edits or pins are active."""
        return self.now is not self.trained

    @property
    def rule(self) -> str | None:
        """The rule that all numbers are given; None without one."""
        return self.now.pattern if isinstance(self.now, Ruled) else None

    @property
    def windowed(self) -> bool:
        """Whether this is a window of a longer sentence."""
        return self.now.whole is not None

    @property
    def of_probabilities(self) -> bool:
        """Whether each trained score is the logarithm of a probability."""
        return self.tagger.family in (HMM, MEMM)

    @property
    def rows(self) -> tuple[str, ...]:
        """The decoder rows to draw, in order; gold only where there is gold."""
        wanted = wanted_rows(view_option(ROWS, EVERY_ROW))
        return tuple(row for row in LABELS if row in wanted and (row != "gold" or self.gold))

    def numbered(self, start: int = 0, stop: int | None = None) -> dict[int, str]:
        """The words by position, each with its number: words repeat."""
        every = list(enumerate(self.words))[start:stop]
        return {t: f"{self.first + t + 1} {word}" for t, word in every}

    def place(self, option: str) -> tuple[int, int] | None:
        """The position and tag id that a page option names as "t TAG"; None where it names none."""
        position, _, tag = self.scenario.view.get(option, "").partition(" ")
        if not position.isdecimal() or tag not in self.tags:
            return None
        place = int(position) - self.first
        return (place, self.tags.index(tag)) if 0 <= place < len(self.words) else None


def rule_in_force(tags: Sequence[str]) -> Automaton | None:
    """The rule that the reader keeps; None without one, or where these tags are not its tags."""
    with suppress(CrfvizError):
        return automaton(view_option(RULE), tuple(tags)) if view_option(RULE) else None
    return None


def counted_rule(now: Scenario) -> str | None:
    """The rule in force, if it and the sentence are small enough for all questions."""
    rule = rule_in_force(cached.tagger(now.model).tags)
    long = len(cached.words(now.model, now.sentence)) > MAX_WORDS
    return None if rule is None or long or len(rule.copies) > MOST_COUNTED else rule.pattern


def under_rule(scene: Scene) -> Scene:
    """The same scene given the rule in force, if it can be counted with; else as it is."""
    rule = counted_rule(scene.scenario)
    if rule is None:
        return scene
    trained = cached.ruled(Scenario(scene.model, scene.scenario.sentence), rule)
    now = cached.ruled(scene.scenario, rule) if scene.edited else trained
    return replace(scene, trained=trained, now=now)


def scene(*, windows: bool = False) -> Scene:
    """The scene of this run.

    Where the sentence is blank the page ends here with a plain message. Of a sentence of more than
    120 words a page draws a window, if it can, with the numbers of all of it; else the words up to
    there, cut off. A line says so.

    Raises:
        CrfvizError: the model is broken, or an edit cannot be applied.
    """
    now = scenario()
    if not cached.words(now.model, now.sentence):
        st.info("Type a sentence in the box on the left, then press Enter.")
        st.stop()
    built = scene_of(now, windows=windows)
    drawn = built.now.sentence.potentials.num_tokens
    if built.total_words > drawn:
        st.caption(f"The first {drawn} of {built.total_words} words are drawn.")
    return built


def scene_of(now: Scenario, *, windows: bool = False) -> Scene:
    """The scene of any state, such as one side of a comparison; at least one word.

    Raises:
        CrfvizError: the model is broken, or an edit cannot be applied.
    """
    tagger = cached.tagger(now.model)
    every_word = cached.words(now.model, now.sentence)
    changed, first = bool(now.edits or now.pins), 0
    if windows and len(every_word) > MAX_WORDS:
        whole = cached.all_trained(now)
        first = number_option(FROM, 0, 0, whole.potentials.num_tokens - MAX_WORDS)
        trained = whole.window(first, MAX_WORDS)
        edited = cached.all_edited(now).window(first, MAX_WORDS) if changed else trained
    else:
        trained = cached.trained(now)
        edited = cached.edited(now) if changed else trained
    return Scene(
        scenario=now,
        model=now.model,
        tagger=tagger,
        tags=tagger.tags,
        words=tuple(every_word[first : first + MAX_WORDS]),
        total_words=len(every_word),
        first=first,
        trained=trained,
        now=edited,
        gold=_gold(now, tagger.tags, range(first, first + len(trained.words))),
    )


def example_of(now: Scenario) -> Example | None:
    """The example that the sentence is, if it is one of the model's."""
    return next((e for e in cached.examples(now.model) if e.text == now.sentence), None)


def keep_point(now: Scenario) -> None:
    """Make room for what the sentence is to show, if it is an example; pages say when."""
    example = example_of(now)
    keep(_CLAIM, example.claim if example else None)
    keep(_PLACE, st.container() if example else None)


def keep_back_point() -> None:
    """Nothing that tells what the example is to show is on the page yet."""
    keep(_TOLD, False)


def tell_point() -> None:
    """Say it: everything that tells it is on the page."""
    keep(_TOLD, True)


def told_point() -> str | None:
    """What the example is to show, if the page tells it."""
    claim: str | None = found(_CLAIM) if found(_TOLD) else None
    return claim


def show_point() -> None:
    """Draw what the page tells, in the room that was made for it."""
    claim, place = told_point(), found(_PLACE)
    if claim and place is not None:
        place.caption(plain(claim_text(claim)))
    keep(_PLACE, None)


def _gold(now: Scenario, tags: tuple[str, ...], places: range) -> list[int] | None:
    """Tag ids of the right tags of some words: of the marks if each has one, else of the example.

    None where nobody knows them, or the model does not have one of them.
    """
    marked = [now.right.get(position) for position in places]
    example = example_of(now)
    known = example.gold[places.start : places.stop] if example and example.gold else ()
    for names in (marked, known):
        if len(names) == len(places) and all(name in tags for name in names):
            return [tags.index(name) for name in names if name is not None]
    return None
