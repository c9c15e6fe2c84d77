"""Entities: the effect of the BIO rules, and the exact probability of a chosen entity."""

from functools import partial

import streamlit as st

from crfviz.chain.questions.rules import Ruled
from crfviz.ui.panels.compare import SCORES_ONLY
from crfviz.ui.panels.entities import (
    chosen_entity,
    constraint_panel,
    scene_with_entities,
    take_over,
    trained_free,
)
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, take_scene
from crfviz.ui.words import plain
from crfviz.views.explanation import explain
from crfviz.views.stage.entity import entity_panel
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import FREE, constraint_rows

LEGEND = (
    "✗ breaks BIO · red dashes: differs from Viterbi without the rules · to choose an entity click "
    "its first word, then its last; Shift+arrows stretch it"
)

(switch,) = header("Entities", "content")
current = scene_with_entities(scene())
if current is None:
    end_page()
free, effect = constraint_panel(current, switch)
rows = constraint_rows(
    free, effect, which=current.rows, gold=current.gold, trained=trained_free(current)
)
best = current.now.viterbi
if best is None:
    note = explain(current.now)
    drawn = show_stage(
        current, Picture(["strips"], rows, reference=FREE, note=note), key="entities"
    )
    take_scene(current, disabled=drawn.withheld)
    end_page()
if not current.tagger.probabilistic:
    st.caption(plain(SCORES_ONLY.format(model=current.model)))
ruled = with_rule(current)
given = ruled.now
panel = entity_panel(
    current.now.potentials,
    chosen_entity(ruled),
    current.words,
    path=given.paths["viterbi"] or best.path,
    trained=current.trained.potentials if current.edited else None,
    rule=given.pattern if isinstance(given, Ruled) and given.viterbi else None,
)
picture = Picture(
    ["strips", "spans"], rows, side=panel, reference=FREE, note=panel.note, legend=LEGEND
)
drawn = show_stage(current, picture, key="entities", take_over=partial(take_over, current))
table_twin(drawn)
