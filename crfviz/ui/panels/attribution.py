"""Where an emission comes from: the words, or the features, behind one bar of the gap."""

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.taggers.attribution import Attribution, attribute
from crfviz.ui import cached
from crfviz.ui.remembered import remembered
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound import bound_place
from crfviz.ui.session.current import flag_option
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain
from crfviz.views.formatting import differing
from crfviz.views.frames.attribution import (
    because,
    because_chart,
    because_frame,
    features_note,
)
from crfviz.views.strips.why import Question


@st.fragment
@guarded("Where the emission comes from")
def attribution_panel(scene: Scene, asked: Question) -> None:
    """The emission bar of a word, taken apart into what each word of the sentence contributes."""
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


@remembered(64, lambda model, *parts: (cached.model_key(model), *parts))
def _attribution(model: str, sentence: str, position: int, tag: int, rival: int) -> Attribution:
    words = cached.potentials(model, sentence, constrained=False).tokens or ()
    return attribute(cached.tagger(model), words, position, tag, rival)
