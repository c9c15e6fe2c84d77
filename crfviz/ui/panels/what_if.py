"""The page What if: all changes of the sentence, the chosen one, its downloads and links."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.questions.rules import Ruled, analyse_match
from crfviz.exceptions import UnknownObservationError
from crfviz.taggers.perturbations import DRAWN, KINDS, Perturbed, WhatIf, perturb, rewritten
from crfviz.taggers.tagger import Tagger
from crfviz.text.tokenizer import sentence_of
from crfviz.ui import cached
from crfviz.ui.scene import Scene, countable_rule
from crfviz.ui.session.bound_widgets import bound_buttons, bound_to
from crfviz.ui.session.page_options import choice_option, increment_option, number_option
from crfviz.ui.session.scenario_state import change, scenario, set_view_option, view_option
from crfviz.ui.session.session_store import errors_as_messages
from crfviz.ui.stage import download_menu, draw, show_stage, take_scene
from crfviz.ui.state.link import encode, home_address
from crfviz.ui.state.scenario import (
    LIST,
    MAX_CHARACTERS,
    MAX_WORDS,
    PLACE,
    Scenario,
    as_typed,
)
from crfviz.ui.words import plain, quote
from crfviz.views.explanation import explain, explain_error
from crfviz.views.exports.live import Live, live_of, origin_of
from crfviz.views.formatting import count
from crfviz.views.stage.picture import Picture, Subject
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.what_if import (
    error_note,
    flip_frame,
    moved_frame,
    moved_grid,
    what_if_note,
    what_if_rows,
)

MAX_DRAWS = 999_999
OWN = "your own"  # kind of change: a sentence that the reader typed
OWN_TEXT = "own"  # page option: that sentence
Tried = Mapping[str, WhatIf | str]  # by kind; a string is the reason why there is no result


def tried(now: Scenario) -> Tried:
    """Return the sentence after every kind of change, decoded by the same model.

    Edited transitions apply before and after the change, edits of single words and pins to neither.
    Models with a fixed set of observations and imported scores have no scores for most changes.
    """
    seed = number_option("draw", 0, 0, MAX_DRAWS)
    without = replace(now, edits=replace(now.edits, emissions={}), pins={})
    return _tried(without, seed, view_option(OWN_TEXT), countable_rule(now))


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=cached.BY_NUMBERS)
def _tried(now: Scenario, seed: int, own: str, rule: str | None) -> Tried:
    tagger = cached.tagger(now.model)
    words = cached.words(now.model, now.sentence)[:MAX_WORDS]
    before = cached.ruled(now, rule) if rule else cached.edited(now)
    path = before.paths["viterbi"] or before.greedy
    tags = [tagger.tags[tag] for tag in path]
    changed: dict[str, WhatIf | str] = {}
    if tagger.observations is None:
        ways = {kind: perturb(kind, words, tags, seed) for kind in KINDS}
        for kind, way in ways.items():
            changed[kind] = f"This sentence has nothing for “{kind}” to change."
            if way is not None:
                changed[kind] = _after(now, before, way)
    else:
        known = ", ".join(tagger.observations)
        why = f"{tagger.name} knows only {known}, and these have neither case nor spelling."
        changed = dict.fromkeys(KINDS, why)
    way = rewritten(words, cached.words(now.model, own)[:MAX_WORDS]) if own else None
    changed[OWN] = "Edit the sentence above."
    if way is not None and way.words:
        changed[OWN] = _after(now, before, way)
    return changed


def _after(now: Scenario, before: Analysis, way: Perturbed) -> WhatIf | str:
    """Decode the changed sentence; if the model has no scores for it, return a message."""
    tagger = cached.tagger(now.model)
    try:
        chain = tagger.potentials(way.words, constrained=now.edits.constrained)
    except UnknownObservationError as error:
        if tagger.observations is not None:
            return str(error)
        return (
            f"{tagger.name} has scores for the sentences of its file only, and "
            f"{quote(' '.join(way.words))} is none of them. A file that holds the "
            "changed sentence, too, would show what it does."
        )
    chain = now.edits.apply(chain)
    rule = before.pattern if isinstance(before, Ruled) else None
    return WhatIf(before, way, analyse_match(chain, rule) if rule else analyse(chain))


def choose_change(every: Tried) -> str:
    """Draw a button per kind of change with its number of flips; return the chosen kind.

    The reader's own sentence and a button for another random draw follow. If the model has scores
    for no changed sentence, there is nothing to choose.
    """
    flips = {
        kind: "–" if isinstance(changed, str) else len(changed.flips)
        for kind, changed in every.items()
    }
    names = {kind: f"{kind} · {number}" for kind, number in flips.items()}
    kind = choice_option("change", every, _first(every))
    if _computed(every):
        kind = bound_buttons("Change, and how many tags flip", "change", names, _first(every))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        bound_to(
            st.text_input,
            "Your own change",
            "what-if.own",
            view_option(OWN_TEXT) or scenario().sentence,
            _write,
            max_chars=MAX_CHARACTERS,
            label_visibility="collapsed",
        )
        st.button(
            "Try another",
            on_click=increment_option,
            args=("draw", MAX_DRAWS),
            disabled=kind not in DRAWN or isinstance(every[kind], str),
            help="A typo, a name and a number are drawn by chance; the number is in the link",
        )
    return kind


def _computed(every: Tried) -> bool:
    return not all(isinstance(changed, str) for changed in every.values())


def _write(typed: str) -> None:
    """Store the typed sentence as the reader's change; an empty or equal one clears it."""
    text = as_typed(typed)
    same = text in ("", scenario().sentence)
    set_view_option(OWN_TEXT, "" if same else text)
    set_view_option("change", OWN)


def show_unchanged(scene: Scene, why: str, every: Tried) -> None:
    """Show why there is no change, and draw the sentence; offer a model that reads any words."""
    change_or = "another change, or " * _computed(every)
    st.info(plain(f"{why} Choose {change_or}another model above."))
    other = None if scene.tagger.observations else _model_of_words(scene)
    if other is not None:
        sentence = scene.scenario.sentence
        st.button(
            plain(f"Open this sentence with {other}"),
            on_click=lambda: change(model=other, sentence=sentence),
            key="open_words",
        )
    rows = decoder_rows(scene.now, which=["viterbi", "gold"], gold=scene.gold)
    note, error_position = explain(scene.now), _error_place(scene)
    if error_position is not None and scene.gold and scene.now.viterbi is not None:
        note = f"{explain_error(scene.now, scene.gold, error_position)} {note}"
    picture = Picture(["strips"], rows, compact=True, note=note, asked=scene.place("at"))
    drawn = show_stage(scene, picture, key="what-if")
    take_scene(scene, disabled=drawn.withheld)


def _model_of_words(scene: Scene) -> str | None:
    """Return another model that reads any words, preferably with the same tags."""
    if scene.model in cached.ready_models():
        return None
    known = {name: cached.known_tagger(name) for name in cached.ready_models()}
    free = {name: each.tags for name, each in known.items() if each and not each.observations}
    same = (name for name, tags in free.items() if tags == scene.tags)
    return next(same, next(iter(free), None))


def _error_place(scene: Scene) -> int | None:
    place = scene.place("at")
    return place[0] if place is not None and scene.scenario.right else None


def show_changed(scene: Scene, changed: WhatIf, kind: str) -> None:
    """Draw the changed sentence with its tags before and after, and each emission's change.

    If a link from a list of errors opened the sentence, the note begins with the error.
    """
    grid, position = moved_grid(changed), _error_place(scene)
    note, error_position = what_if_note(changed, kind), None
    if position is not None and scene.gold:
        note = f"{error_note(changed, scene.gold, position)} {note}"
        error_position = changed.place_of(position)
    picture = Picture(
        ["strips", grid.name],
        what_if_rows(changed),
        [grid],
        compact=True,
        title="",
        note=note,
        asked=error_position,
        legend="red dashes: the tag is not what it was",
        changeable=False,
    )
    subject = Subject(changed.after, changed.after)
    draw(subject, picture, key="what-if")


def show_numbers(changed: WhatIf) -> None:
    """Draw the flips and the largest score changes as tables."""
    flipped, moved = st.columns([6, 5])  # widths in proportion to their columns
    with flipped:
        st.markdown("**Tags that flip**")
        frame = flip_frame(changed)
        _show(frame)
    with moved:
        st.markdown("**Scores that moved most**, in nats")
        frame = moved_frame(changed)
        _show(frame)
        st.caption(
            "An emission's change is without the mean change of its word: a constant added to "
            "all its tags changes no path. "
            + (
                "Transitions do not depend on the words."
                if changed.after.potentials.homogeneous
                else "Each step has transitions of its own; they are among the scores."
            )
        )


def ways_on(changed: WhatIf) -> None:
    """Draw the next actions: use the changed sentence, open it, or download it."""
    model, text = scenario().model, _text(changed)
    if text is None:
        st.caption("The tokenizer would split these words elsewhere: they have no link.")
        return
    now = scenario()
    state = Scenario(model, text, edits=replace(now.edits, emissions={}))
    link = encode(state)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Use this sentence",
            on_click=_take,
            help="For all pages, so that Compare can put two models side by side on it",
        )
        st.link_button("Open in the explorer", home_address(link))
        tagger = cached.tagger(model)
        download_menu(lambda: live_with_edits(tagger, state))
        dropped = len(now.edits.emissions) + len(now.pins)
        if dropped:
            st.caption(f"{count(dropped, 'edit or pin')} of single words left out on both sides.")


def live_with_edits(tagger: Tagger, now: Scenario) -> Live:
    """Return the inputs of a live file: the changed sentence with the transition edits."""
    constrained = now.edits.constrained
    live = live_of(tagger, now.sentence)
    return replace(
        live,
        potentials=tagger.potentials(live.now.words, constrained=constrained),
        edits=now.edits,
        origin=origin_of(tagger, now.sentence, constrained=constrained),
    )


def _take() -> None:
    """Use the chosen sentence; the choice may be newer than the clicked button."""
    with errors_as_messages():
        every = tried(scenario())
        changed = every[choice_option("change", every, _first(every))]
        place = {name: view_option(name) for name in (LIST, PLACE)}
        change(sentence=None if isinstance(changed, str) else _text(changed))
        for name, value in place.items():  # a new sentence drops these; keep the list of errors
            set_view_option(name, value)


def _text(changed: WhatIf) -> str | None:
    """Return the changed sentence; None if the model would split it differently."""
    return sentence_of(changed.perturbed.words, cached.tagger(scenario().model).split)


def _first(every: Tried) -> str:
    """Return the default change: the first that flips a tag."""
    flipping = (
        kind for kind, changed in every.items() if not isinstance(changed, str) and changed.flips
    )
    return next(flipping, "lower case")


def _show(frame: pd.DataFrame) -> None:
    if frame.empty:
        st.caption("None.")
        return
    numbers = {
        name: st.column_config.NumberColumn(format="%.3f")
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    st.dataframe(frame, hide_index=True, column_config=numbers)
