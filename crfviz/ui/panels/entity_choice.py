"""Which entity the reader asks about: `v.entity=first last TYPE`, positions from 0."""

from __future__ import annotations

import re

import streamlit as st

from crfviz.chain.entities.probability import entity_types
from crfviz.text.schemes import begin, inside
from crfviz.ui.scene import Scene
from crfviz.ui.session.current import view_option
from crfviz.ui.words import plain, quote
from crfviz.views.stage.entity import Span, path_entities

ENTITY_OPTION = "entity"

_WRITTEN = re.compile(r"(\d{1,4}) (\d{1,4}) (\S.*)", re.ASCII)


def chosen_entity(scene: Scene) -> Span:
    """The entity that was chosen; at first the first one on the best path.

    What cannot be asked is answered with a message, and the first one is shown. The scene must
    have BIO tags and an allowed path.
    """
    wanted = view_option(ENTITY_OPTION)
    if not wanted:
        return first_entity(scene)
    problem = _problem(scene, wanted)
    if problem is None:
        return _read(wanted)
    st.warning(plain(f"{problem} The first entity is shown instead."))
    return first_entity(scene)


def first_entity(scene: Scene) -> Span:
    """The first entity on the best path; where there is none, the likeliest first word of one."""
    best = scene.now.viterbi
    on_path = path_entities([scene.tags[k] for k in best.path]) if best else []
    if on_path:
        return on_path[0]
    labels = entity_types(scene.now.potentials)
    ids = [scene.tags.index(begin(label)) for label in labels]
    begins = scene.now.forward_backward.marginals[:, ids]  # (T, types)
    position, kind = divmod(int(begins.argmax()), len(labels))
    return labels[kind], position, position


def _read(wanted: str) -> Span:
    match = _WRITTEN.fullmatch(wanted)
    if match is None:
        return "", 0, 0
    return match[3], int(match[1]), int(match[2])


def _problem(scene: Scene, wanted: str) -> str | None:
    """Why this entity cannot be asked for; None if it can."""
    label, first, last = _read(wanted)
    types = entity_types(scene.now.potentials)
    count = len(scene.words)
    if not label:
        return f"Ignored the entity {quote(wanted)} in the address: expected “1 3 {types[0]}”."
    if label not in types:
        return f"{scene.model} has no entity type {quote(label)}: it knows {', '.join(types)}."
    if not first <= last < count:
        return (
            f"Words {first + 1} to {last + 1} are no span of this sentence: it has the words 1 to "
            f"{count}, and the first cannot come after the last."
        )
    if last > first and inside(label) not in scene.tags:
        return f"{scene.model} has no tag {inside(label)}: such entities have one word."
    return None
