"""The content of a page: the sentence, and its numbers before and after edits."""

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
from crfviz.ui.session.page_end import end_page
from crfviz.ui.session.page_options import number_option
from crfviz.ui.session.scenario_state import scenario, view_option
from crfviz.ui.state.link import read_places
from crfviz.ui.state.link_text import read_cell
from crfviz.ui.state.scenario import FROM, MAX_WORDS, RULE, THEIRS, Scenario
from crfviz.views.stage.picture import most_words
from crfviz.views.strips.decoders import LABELS

MAX_COPIES = 150  # copies of tags in a rule's chain; more take over 100 ms for 120 words


@dataclass(frozen=True, eq=False)
class Scene:
    """One sentence under one model, as trained and with the scenario's edits."""

    scenario: Scenario
    model: str
    tagger: Tagger
    tags: tuple[str, ...]  # K tag names, in id order
    words: tuple[str, ...]  # T words, at most 120
    total_words: int  # number of words in the whole sentence
    first: int  # position of the first drawn word in the sentence
    trained: Analysis
    now: Analysis  # the same object as `trained` without edits and pins
    gold: list[int] | None  # T tag ids; None if unknown
    theirs: list[int] | None  # T tag ids of another tagger's answers; None without answers

    @property
    def edited(self) -> bool:
        return self.now is not self.trained

    @property
    def rule(self) -> str | None:
        """The rule that conditions all numbers; None without one."""
        return self.now.pattern if isinstance(self.now, Ruled) else None

    @property
    def windowed(self) -> bool:
        return self.now.whole is not None

    @property
    def of_probabilities(self) -> bool:
        """Whether each trained score is the logarithm of a probability."""
        return self.tagger.family in (HMM, MEMM)

    @property
    def rows(self) -> tuple[str, ...]:
        """The decoder rows to draw, in order; gold only if there are gold tags."""
        return tuple(row for row in LABELS if row != "gold" or self.gold)

    def numbered(self, start: int = 0, stop: int | None = None) -> dict[int, str]:
        """Return labels of the words by position, with numbers, because words can repeat."""
        every = list(enumerate(self.words))[start:stop]
        return {t: f"{self.first + t + 1} {word}" for t, word in every}

    def place(self, option: str) -> tuple[int, int] | None:
        """Return the position and tag id of a page option "t TAG"; None if it is invalid."""
        cell = read_cell(self.scenario.view.get(option, ""), self.tags)
        place = -1 if cell is None else cell[0] - self.first
        return (place, cell[1]) if cell and 0 <= place < len(self.words) else None


def active_rule(tags: Sequence[str], pattern: str | None = None) -> Automaton | None:
    """Return the automaton of a rule, by default the reader's; None if invalid for the tags."""
    pattern = view_option(RULE) if pattern is None else pattern
    with suppress(CrfvizError):
        return automaton(pattern, tuple(tags)) if pattern else None
    return None


def countable_rule(
    now: Scenario, pattern: str | None = None, *, windowed: bool = False
) -> str | None:
    """Return the active rule if it is small enough to condition the numbers; else None."""
    rule = active_rule(cached.tagger(now.model).tags, pattern)
    if rule is None or len(rule.copies) > MAX_COPIES or (windowed and exceeded_limit(now, rule)):
        return None
    return rule.pattern


def exceeded_limit(now: Scenario, rule: Automaton) -> int | None:
    """Return the word limit under a rule if the sentence exceeds it, else None."""
    most = most_words(len(rule.copies))
    words = min(len(cached.words(now.model, now.sentence)), most_words(len(rule.tags)))
    return most if words > most else None


def with_rule(scene: Scene) -> Scene:
    """Return the scene conditioned on the active rule, if that is countable."""
    windowed, as_trained = scene.windowed, Scenario(scene.model, scene.scenario.sentence)
    rule = countable_rule(scene.scenario, windowed=windowed)
    if rule is None:
        return scene

    def given(state: Scenario) -> Ruled:
        whole = cached.ruled(state, rule, windowed=windowed)
        return whole.window(scene.first, MAX_WORDS) if windowed else whole

    trained = given(as_trained)
    return replace(scene, trained=trained, now=given(scene.scenario) if scene.edited else trained)


def both_with_rule(first: Scene, second: Scene) -> tuple[Scene, Scene]:
    """Return two scenes conditioned on the active rule; unchanged if it does not fit both."""
    given = with_rule(first), with_rule(second)
    return given if all(each.rule for each in given) else (first, second)


def scene(*, windows: bool = False) -> Scene:
    """Return the scene of this run.

    A blank sentence ends the run with a message. Of more than 120 words, a window with the numbers
    of the whole sentence is drawn if `windows`; otherwise only the first words, with a note.

    Raises:
        CrfvizError: the model is broken, or an edit cannot be applied.

    """
    now = scenario()
    if not cached.words(now.model, now.sentence):
        st.info("Type a sentence in the box above, then press Enter.")
        end_page()
    built = scene_of(now, windows=windows)
    drawn = built.now.sentence.potentials.num_tokens
    if built.total_words > drawn:
        st.caption(f"The first {drawn} of {built.total_words} words are drawn.")
    return built


def scene_of(now: Scenario, *, windows: bool = False) -> Scene:
    """Return the scene of any scenario with at least one word, such as a side of a comparison.

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
        edited = cached.edited(now)
        trained = cached.trained(now) if changed else edited
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
        theirs=_theirs(now, tagger.tags, range(first, first + len(trained.words))),
    )


def example_of(now: Scenario) -> Example | None:
    """Return the model's example with this sentence, or None."""
    return next((e for e in cached.examples(now.model) if e.text == now.sentence), None)


def _gold(now: Scenario, tags: tuple[str, ...], places: range) -> list[int] | None:
    """Return the gold tag ids of the words at `places`.

    They are the reader's marks if every word has one, else those of the example. None if they are
    unknown, or the model lacks one of them.
    """
    marked = [now.right.get(position) for position in places]
    example = example_of(now)
    known = example.gold[places.start : places.stop] if example and example.gold else ()
    for names in (marked, known):
        if len(names) == len(places) and all(name in tags for name in names):
            return [tags.index(name) for name in names if name is not None]
    return None


def _theirs(now: Scenario, tags: tuple[str, ...], places: range) -> list[int] | None:
    """Return the tag ids of another tagger's answers; None if they are incomplete."""
    given = read_places(now.view.get(THEIRS, ""))
    names = [given.get(position) for position in places]
    return [tags.index(name) for name in names if name] if {*names} <= {*tags} else None
