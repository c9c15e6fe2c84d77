"""The two sides of a comparison: as trained, now, without transitions, a model, or a snapshot.

Only the chain on the screen and snapshots have a sentence. Both sides use that of the first such
side. The other side keeps its model, transitions and strength. Its edits of single words belong to
another sentence, so they are dropped, with a note.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import streamlit as st

from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.session.scenario_state import scenario, view_option
from crfviz.ui.session.session_store import snapshots
from crfviz.ui.state.scenario import Scenario, for_tags, with_sentence
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain
from crfviz.views.formatting import count
from crfviz.views.strips.decoders import difference_line, figures, figures_line

TRAINED, NOW, ALONE = "trained", "now", "alone"
SIDES = ("a", "b")  # page options of the two sides

SCORES_ONLY = (
    "{model} was not trained to give probabilities: p, entropy and marginals are what a CRF with "
    "its scores would say."
)

_MODEL, _SNAPSHOT = "model ", "snapshot "


@dataclass(frozen=True)
class Side:
    """One side of a comparison, on the words of both."""

    label: str
    scenario: Scenario
    note: str  # what was dropped; empty if nothing


def options() -> list[str]:
    models = [_MODEL + name for name in cached.models()]
    return [TRAINED, NOW, ALONE, *models, *map(snapshot_option, snapshots().names())]


def snapshot_option(name: str) -> str:
    return _SNAPSHOT + name


def label(option: str) -> str:
    """Return the display name of an option."""
    if option == TRAINED:
        return "as trained"
    if option == NOW:
        return "now"
    if option == ALONE:
        return "without transitions"
    if option.startswith(_MODEL):
        return f"{option.removeprefix(_MODEL)}, as trained"
    return f"“{option.removeprefix(_SNAPSHOT)}”"


def _default() -> str:
    """Return the default of side B: "now" if that may differ from A, else what does differ."""
    now = scenario()
    if now.edits or now.pins or view_option("a", TRAINED) != TRAINED:
        return NOW
    best = cached.edited(now).paths["viterbi"]
    for option in (ALONE, *_relatives(now.model)):
        other = both_sides(TRAINED, option)[1].scenario
        if cached.edited(other).paths["viterbi"] != best:
            return option
    return ALONE


def _relatives(model: str) -> Iterator[str]:
    tags = cached.tagger(model).tags
    for name in cached.ready_models():
        other = cached.known_tagger(name)
        if name != model and other is not None and other.tags == tags:
            yield _MODEL + name


def both_sides(first: str, second: str) -> tuple[Side, Side]:
    """Return both sides for two of `options`.

    Raises:
        CrfvizError: a model cannot be loaded.
    """
    a, b = _own(first), _own(second)
    speaking = (side for side in (a, b) if side and cached.words(side.model, side.sentence))
    words = next(speaking, scenario()).sentence
    return _side(first, a, b, words), _side(second, b, a, words)


def _side(option: str, own: Scenario | None, other: Scenario | None, words: str) -> Side:
    """Return one side on the common words; "as trained" uses the model of the other side."""
    if own is not None:
        return _moved(label(option), own, words)
    model = (other or scenario()).model if option == TRAINED else option.removeprefix(_MODEL)
    return Side(label(option), Scenario(model, words), "")


def _own(option: str) -> Scenario | None:
    if option in (NOW, ALONE):
        now = scenario()
        edits = now.edits if option == NOW else replace(now.edits, strength=0.0)
        return Scenario(now.model, now.sentence, edits, now.pins)
    if option.startswith(_SNAPSHOT):
        snapshot = snapshots().named(option.removeprefix(_SNAPSHOT))
        return None if snapshot is None else snapshot.scenario
    return None


def _moved(name: str, own: Scenario, words: str) -> Side:
    """Return a side with its scenario moved to the common words, and a note on what was dropped."""
    fitted, _ = for_tags(own, cached.tagger(own.model).tags)
    moved = with_sentence(fitted, words)
    if fitted.sentence == moved.sentence:
        return Side(name, fitted, "")
    edits, pins = len(fitted.edits.emissions), len(fitted.pins)
    lost = [count(number, noun) for number, noun in ((edits, "edit"), (pins, "pin")) if number]
    what = f", without {' and '.join(lost)} of its own words" if lost else ""
    return Side(name, moved, f"{name} was made on another sentence; here it is on this one{what}.")


def choose_sides(left: DeltaGenerator, right: DeltaGenerator) -> tuple[Side, Side]:
    """Draw a select box per side; an option that no longer exists falls back to the default."""
    known = options()
    chosen = []
    for place, side, default in zip((left, right), SIDES, (TRAINED, _default()), strict=True):
        choice = view_option(side, default)
        if choice not in known:
            st.warning(
                plain(
                    f"There is no {label(choice)} to compare with in this session. "
                    f"Side {side.upper()} shows “{label(default)}” instead."
                )
            )
        names = {option: f"{side.upper()}: {label(option)}" for option in known}
        with place:
            chosen.append(
                bound_select(side.upper(), side, names, default, label_visibility="collapsed")
            )
    return both_sides(chosen[0], chosen[1])


def show_figures(a: Scene, b: Scene, words: str) -> None:
    """Draw the figures of both chains and their difference B − A, beside the note `words`."""
    one, two = figures(a.now), figures(b.now)
    same_scale = a.model == b.model
    lines = (
        ("A", figures_line(one)),
        ("B", figures_line(two)),
        ("B − A", difference_line(one, two, same_scale=same_scale)),
    )
    for side in (a, b)[: 1 if a.model == b.model else 2]:
        if not side.tagger.probabilistic:
            st.caption(plain(SCORES_ONLY.format(model=side.model)))
    with st.container(key="figures"):
        numbers, sentence = st.columns([1.15, 1], vertical_alignment="center")
        numbers.markdown("  \n".join(f"**{name}** {plain(line)}" for name, line in lines))
        sentence.markdown(plain(words))
