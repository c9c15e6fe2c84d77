"""Everything a page draws: the sentence, its numbers as trained and as they are now."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.patterns import Automaton, automaton
from crfviz.exceptions import CrfvizError
from crfviz.taggers.examples import Example
from crfviz.taggers.tagger import HMM, MEMM, Tagger
from crfviz.ui import cached
from crfviz.ui.session.current import scenario, view_option
from crfviz.ui.session.kept import found, keep
from crfviz.ui.state.covers import EVERY_ROW, ROWS, wanted_rows
from crfviz.ui.state.scenario import MAX_WORDS, RULE, Scenario
from crfviz.ui.words import plain
from crfviz.views.formatting import claim_text
from crfviz.views.strips.decoders import LABELS

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
    trained: Analysis
    now: Analysis  # the same object as `trained` where nothing is edited or pinned
    gold: list[int] | None  # T tag ids; None where nobody knows

    @property
    def edited(self) -> bool:
        """Whether edits or pins are active."""
        return self.now is not self.trained

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
        return {t: f"{t + 1} {word}" for t, word in list(enumerate(self.words))[start:stop]}

    def place(self, option: str) -> tuple[int, int] | None:
        """The position and tag id that a page option names as "t TAG"; None where it names none."""
        position, _, tag = self.scenario.view.get(option, "").partition(" ")
        if not position.isdecimal() or int(position) >= len(self.words) or tag not in self.tags:
            return None
        return int(position), self.tags.index(tag)


def rule_in_force(tags: Sequence[str]) -> Automaton | None:
    """The rule that the reader keeps; None without one, or where these tags are not its tags."""
    with suppress(CrfvizError):
        return automaton(view_option(RULE), tuple(tags)) if view_option(RULE) else None
    return None


def scene() -> Scene:
    """The scene of this run.

    Where the sentence is blank the page ends here with a plain message. A sentence of more than 120
    words is drawn up to there, with a line that says so.

    Raises:
        CrfvizError: the model is broken, or an edit cannot be applied.
    """
    now = scenario()
    if not cached.words(now.model, now.sentence):
        st.info("Type a sentence in the box on the left, then press Enter.")
        st.stop()
    built = scene_of(now)
    if built.total_words > MAX_WORDS:
        st.caption(f"The first {MAX_WORDS} of {built.total_words} words are drawn.")
    return built


def scene_of(now: Scenario) -> Scene:
    """The scene of any state, such as one side of a comparison; at least one word.

    Raises:
        CrfvizError: the model is broken, or an edit cannot be applied.
    """
    tagger = cached.tagger(now.model)
    every_word = cached.words(now.model, now.sentence)
    trained = cached.trained(now)
    return Scene(
        scenario=now,
        model=now.model,
        tagger=tagger,
        tags=tagger.tags,
        words=tuple(every_word[:MAX_WORDS]),
        total_words=len(every_word),
        trained=trained,
        now=cached.edited(now) if now.edits or now.pins else trained,
        gold=_gold(now, tagger.tags, min(len(every_word), MAX_WORDS)),
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


def _gold(now: Scenario, tags: tuple[str, ...], num_words: int) -> list[int] | None:
    """Tag ids of the right tags: of the marks if every word has one, else of the example.

    None where nobody knows them, or the model does not have one of them.
    """
    marked = [now.right.get(position) for position in range(num_words)]
    example = example_of(now)
    known = example.gold[:MAX_WORDS] if example is not None and example.gold else ()
    for names in (marked, known):
        if len(names) == num_words and all(name in tags for name in names):
            return [tags.index(name) for name in names if name is not None]
    return None
