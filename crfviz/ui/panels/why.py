"""The page Why this tag: the compared tag, pins, smallest changes, and an emission's origin."""

import math
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from torch import Tensor

from crfviz.chain.distribution import position_entropies
from crfviz.chain.questions.conditioning import condition
from crfviz.chain.questions.flips import Flip, smallest_change_for, smallest_flips
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.taggers.attribution import Attribution, attribute
from crfviz.ui import cached
from crfviz.ui.scene import Scene, countable_rule
from crfviz.ui.session.bound_widgets import bound_place
from crfviz.ui.session.page_options import flag_option, number_option
from crfviz.ui.session.scenario_state import address, change, scenario
from crfviz.ui.shared_cache import shared_cache
from crfviz.ui.stage import Drawn
from crfviz.ui.state.scenario import MAX_CHARACTERS, MAX_WORDS, WORD
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import differing, format_probability, score, signed
from crfviz.views.frames.chains import (
    because,
    because_chart,
    because_frame,
    features_note,
)
from crfviz.views.stage.picture import Row
from crfviz.views.strips.why import (
    Question,
    Watched,
    ask_why,
    occlusion_frame,
    occlusion_note,
    occlusion_rows,
    rival,
    tag_label,
    why_facts,
    why_note,
)

LIMIT = 10  # flips in the table
MAX_TAGS = 64  # the time of the search grows with K⁴: 1 s for 64 tags, a minute for 200


def question(scene: Scene) -> Question | None:
    """Return the question about the clicked tag, by default the likeliest tag off the best path.

    The default also replaces a forbidden tag, with a message.

    Returns:
        The question; None if no tag sequence is allowed.
    """
    clicked = scene.place("at") or _rival_of_word(scene)
    asked = ask_why(scene.now, clicked)
    if asked and clicked and (asked.position, asked.tag) != clicked:
        what = f"{scene.tags[clicked[1]]} at “{scene.words[clicked[0]]}”"
        rest = "Drop the pin or the edit that forbids it, or ask for another tag."
        st.info(plain(f"No allowed path has {what}. {rest}"))
    return asked


def _rival_of_word(scene: Scene) -> tuple[int, int] | None:
    place = number_option(WORD, -1, -1, MAX_CHARACTERS) - scene.first
    other = rival(scene.now, place) if 0 <= place < len(scene.words) else None
    return None if other is None else (place, other)


def word_panel(drawn: Drawn) -> None:
    """Draw why the clicked word has its tag, below the picture; nothing if no word was clicked."""
    scene = drawn.scene
    chain, place = scene.now.sentence, number_option(WORD, -1, -1, MAX_CHARACTERS)
    if not 0 <= place < len(chain.words) or chain.viterbi is None or drawn.withheld:
        return
    own, other = chain.viterbi.path[place], rival(chain, place)
    marginals = chain.forward_backward.marginals[place]
    tag, word, p = tag_label(scene.tags, own), chain.words[place], _share(marginals[own])
    asked = other is not None and ask_why(chain, (place, other))
    lines = [f"<b>“{escape(word)}” is {escape(tag)}</b> (p {p}): no other tag is allowed here."]
    if asked:
        name = tag_label(scene.tags, asked.tag)
        lines = [
            f"<b>“{escape(word)}” is {escape(tag)}</b> (p {p}); its rival is "
            f"<b>{escape(name)}</b> (p {_share(marginals[asked.tag])}).",
            f"{escape(tag)} against {escape(name)}: {escape(why_facts(asked))}.",
            escape(why_note(asked)),
        ]
    query = urlencode(address().elsewhere.params)
    text = "".join(f"<p>{line}</p>" for line in lines)
    st.html(
        f'<section class="crfviz-why" data-why="{place}" aria-live="polite">{text}'
        f'<a href="why?{escape(query)}">Why this tag</a></section>'
    )


def _share(marginal: Tensor) -> str:
    return format_probability(marginal.item(), 2)


def pin_panel(scene: Scene, question: Question) -> None:
    """Draw buttons that pin or forbid the compared tag, and the cost of all pins."""
    tag, position = scene.tags[question.tag], question.position
    with st.container(horizontal=True, vertical_alignment="center", key="pins"):
        for verb, action in (("Pin", _pin), ("Forbid", _forbid)):
            label = f"{verb} {plain(tag)} at word {position + 1}"
            st.button(label, on_click=action, args=(position, tag))
        unpin_button(scene)
        if scene.scenario.pins:
            st.text(_price(scene))


def unpin_button(scene: Scene) -> None:
    pins = scene.scenario.pins
    st.button("Unpin all", on_click=lambda: change(pins={}), disabled=not pins)


def _pin(position: int, tag: str) -> None:
    change(pins={**scenario().pins, position: tag})


def _forbid(position: int, tag: str) -> None:
    change(edits=scenario().edits.with_emission(position, tag, -math.inf))


def _price(scene: Scene) -> str:
    now = scene.scenario
    free = cached.unpinned(now)
    within = {position: tag for position, tag in now.pins.items() if position < len(scene.words)}
    shown = ", ".join(f"{tag} at {position + 1}" for position, tag in sorted(within.items()))
    try:
        given = condition(free.potentials, within, rule=scene.rule)
    except NoPathError:
        return f"Pinned: {shown}. No allowed path has these tags; unpin one."
    x = "x, rule" if scene.rule else "x"
    return (
        f"Pinned: {shown}. P(pins | {x}) = {format_probability(given.probability, 4)}, "
        f"a cost of {score(given.cost, 3)} nats; the best path loses {score(given.score_loss, 3)}."
    )


@st.fragment
@guarded("The table of the smallest changes")
def flips_panel(scene: Scene, question: Question) -> None:
    """Draw the smallest change for the compared tag, and the ten smallest flips.

    This is a fragment, so that the page stays usable during the computation.
    """
    st.subheader("The smallest changes of one weight")
    if countable_rule(scene.scenario):
        st.caption("These are those of all paths, without the rule.")
    if len(scene.tags) > MAX_TAGS:
        st.info(
            f"The search takes too long for {len(scene.tags)} tags; the limit is {MAX_TAGS}. The "
            "terms of one gap are above."
        )
        return
    with st.spinner("Looking at every weight …"):
        try:
            wanted = smallest_change_for(scene.now.potentials, question.position, question.tag)
            flips = smallest_flips(scene.now.potentials, LIMIT)
        except NoPathError as error:
            st.info(plain(str(error)))
            return
        except CrfvizError:
            st.info(
                "Each step has a transition matrix of its own here, so that a weight has no single "
                "value to change. Choose a model with one matrix, such as upos-en."
            )
            return
    st.text(_answer(scene, question, wanted))
    if not flips:
        st.info("No change of a single weight flips the best path.")
        return
    st.dataframe(pd.DataFrame([_line(scene, flip) for flip in flips]), hide_index=True)


def _answer(scene: Scene, question: Question, flip: Flip | None) -> str:
    """Return the smallest change for the compared tag, in words."""
    if flip is None:
        return f"{question.what} is on the best path. The ten smallest changes that flip any tag:"
    return (
        f"For {question.what}: {_name(scene, flip)} from {score(flip.trained)} to "
        f"{score(flip.value)}, a change of {signed(flip.change, 3)}. The ten smallest changes that "
        "flip any tag:"
    )


def _line(scene: Scene, flip: Flip) -> dict[str, object]:
    before = scene.now.paths["viterbi"] or flip.path
    moved = [
        f"{t + 1} {scene.words[t]}: {scene.tags[before[t]]} → {scene.tags[flip.path[t]]}"
        for t in flip.changed
    ]
    return {
        "weight": _name(scene, flip),
        "now": flip.trained,
        "flips at": flip.value,
        "change": flip.change,
        "then": ", ".join(moved),
    }


def _name(scene: Scene, flip: Flip) -> str:
    kind, *where = flip.weight
    if kind == "start":
        return f"START → {scene.tags[where[0]]}"
    if kind == "end":
        return f"{scene.tags[where[0]]} → END"
    if kind == "emission":
        return f"{scene.tags[where[1]]} at {where[0] + 1} {scene.words[where[0]]}"
    return f"{scene.tags[where[0]]} → {scene.tags[where[1]]}"


@dataclass(frozen=True)
class Origin:
    """The origin of one emission: how it changes when each word is hidden."""

    asked: tuple[int, int]  # position and tag id of the emission
    note: str
    rows: list[Row] = field(default_factory=list)
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)  # the rows as a table


def origin(scene: Scene) -> Origin:
    """Return how hiding each word changes the clicked emission.

    By default it is an emission of the least certain word. Emissions are those of the trained
    model; the decoded tags are those under the edits.
    """
    now = scene.scenario
    position, tag = asked = scene.place("cell") or least_certain(scene)
    if scene.windowed:
        return Origin(asked, f"Words are hidden one by one in sentences of up to {MAX_WORDS} only.")
    try:
        occlusion = cached.occlusion(now.model, now.sentence, constrained=now.edits.constrained)
    except CrfvizError as error:
        return Origin(asked, f"{error}.")
    watched = Watched(
        position,
        tag,
        change=occlusion.change(position, tag).tolist(),
        path=scene.now.paths["viterbi"],
        hidden=cached.hidden_paths(now),
        words=scene.words,
        tags=scene.tags,
    )
    note, rows = occlusion_note(watched), occlusion_rows(watched)
    return Origin(asked, note, rows, occlusion_frame(watched))


def least_certain(scene: Scene) -> tuple[int, int]:
    """Return the position with the largest entropy in the trained model, and its decoded tag."""
    trained = scene.trained
    position = int(position_entropies(trained.forward_backward).argmax())
    path = trained.paths["viterbi"] or trained.greedy
    return position, path[position]


@st.fragment
@guarded("Where the emission comes from")
def attribution_panel(scene: Scene, question: Question) -> None:
    """Draw how much each word contributes to the emission gap between two tags."""
    ours, theirs = question.answer.best, question.answer.path
    places = differing(ours, theirs)
    if not places:
        return
    st.subheader("Where an emission comes from")
    names = {
        t: f"{t + 1} {scene.words[t]}: {scene.tags[ours[t]]}, not {scene.tags[theirs[t]]}"
        for t in places
    }
    first = question.position if question.position in places else places[0]
    position = bound_place("Emission", "because", names, first)
    tag, rival = ours[position], theirs[position]
    try:
        attribution = _attribution(scene.model, scene.scenario.sentence, position, tag, rival)
    except CrfvizError as error:
        st.caption(plain(str(error)))
        return
    pair = scene.tags[tag], scene.tags[rival]
    st.text(because(attribution, scene.words, position, pair))
    if note := features_note(attribution):
        st.text(note)
    st.container(key="wide-because").altair_chart(
        because_chart(attribution, scene.words),
        alt="what each word contributes, in nats; see the tables",
    )
    if flag_option("twin"):
        st.dataframe(because_frame(attribution, scene.words))


@shared_cache(64, lambda model, *parts: (cached.model_key(model), *parts))
def _attribution(model: str, sentence: str, position: int, tag: int, rival: int) -> Attribution:
    words = cached.potentials(model, sentence, constrained=False).tokens or ()
    return attribute(cached.tagger(model), words, position, tag, rival)
