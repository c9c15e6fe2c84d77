"""The words behind an emission: by hiding each word, and by attribution."""

from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from crfviz.chain.distribution import position_entropies
from crfviz.exceptions import CrfvizError
from crfviz.taggers.attribution import Attribution, attribute
from crfviz.ui import cached
from crfviz.ui.cached import shared_cache
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_place
from crfviz.ui.session.scenario_state import flag_option
from crfviz.ui.state.scenario import MAX_WORDS
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import differing
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
    occlusion_frame,
    occlusion_note,
    occlusion_rows,
)


@dataclass(frozen=True)
class Origin:
    """The effect of each hidden word on one emission."""

    asked: tuple[int, int]  # position and tag id of the emission
    note: str
    rows: list[Row] = field(default_factory=list)
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)  # the rows as a table


def origin(scene: Scene) -> Origin:
    """Return how hiding each word changes the clicked emission.

    The default is the emission of the least certain word. Emissions are as trained; the decoded
    tags include the edits.
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
    """Return the word with the largest trained entropy, and its tag."""
    trained = scene.trained
    position = int(position_entropies(trained.forward_backward).argmax())
    path = trained.paths["viterbi"] or trained.greedy
    return position, path[position]


@st.fragment
@guarded("Where the emission comes from")
def attribution_panel(scene: Scene, asked: Question) -> None:
    """Draw the contribution of each word to one emission bar."""
    ours, theirs = asked.answer.best, asked.answer.path
    places = differing(ours, theirs)
    if not places:
        return
    st.subheader("Where an emission comes from")
    names = {
        t: f"{t + 1} {scene.words[t]}: {scene.tags[ours[t]]}, not {scene.tags[theirs[t]]}"
        for t in places
    }
    first = asked.position if asked.position in places else places[0]
    position = bound_place("Emission", "because", names, first)
    tag, rival = ours[position], theirs[position]
    try:
        found = _attribution(scene.model, scene.scenario.sentence, position, tag, rival)
    except CrfvizError as error:
        st.caption(plain(str(error)))
        return
    pair = scene.tags[tag], scene.tags[rival]
    st.text(because(found, scene.words, position, pair))
    if note := features_note(found):
        st.text(note)
    st.container(key="wide-because").altair_chart(
        because_chart(found, scene.words), alt="what each word contributes, in nats; see the tables"
    )
    if flag_option("twin"):
        st.dataframe(because_frame(found, scene.words))


@shared_cache(64, lambda model, *parts: (cached.model_key(model), *parts))
def _attribution(model: str, sentence: str, position: int, tag: int, rival: int) -> Attribution:
    words = cached.potentials(model, sentence, constrained=False).tokens or ()
    return attribute(cached.tagger(model), words, position, tag, rival)
