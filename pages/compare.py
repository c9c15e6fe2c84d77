"""Compare: two sides on the same words, each a snapshot, a model, as trained, or now."""

import streamlit as st

from crfviz.chain.decoding.analysis import compare
from crfviz.ui.panels.compare import choose_sides, show_figures
from crfviz.ui.scene import both_with_rule, scene, scene_of
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.session.scenario_state import view_option
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, take_scene
from crfviz.ui.state.scenario import RULE
from crfviz.ui.words import plain
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import (
    change_grid,
    comparison_note,
    comparison_rows,
    decoder_rows,
    incomparable_note,
)

TAGS_LEGEND = (
    "red dashes: B differs from A · ≠ n: n decoders differ · Δ: share of probability that moves"
)
LATTICE_LEGEND = (
    "dotted: the other side · rings: its marginals, in brackets how far this side is from it"
)
NOT_GIVEN = "The rule does not fit the tags of both sides: all paths count."
VIEWS = {"tags": "tags and marginals", "lattices": "both lattices"}

left, right, choice = header("Compare", 190, 190, "content")
current = scene()
first, second = choose_sides(left, right)
view = bound_tabs("Show", "pair", VIEWS, "tags", at=choice)
a, b = both_with_rule(scene_of(first.scenario), scene_of(second.scenario))
rule = NOT_GIVEN if view_option(RULE) and not a.rule else ""
for note in filter(None, [rule, first.note, second.note]):
    st.caption(plain(note))
both = compare(a.now, b.now) if a.words == b.words else None
if both is not None:
    words = comparison_note(both)
else:
    words = incomparable_note((a.model, a.tags), (b.model, b.tags), same_words=a.words == b.words)
show_figures(a, b, words)
if both is not None and view == "tags":
    grid = change_grid(both)
    picture = Picture(
        ["strips", grid.name],
        comparison_rows(both, current.rows, a.gold),
        [grid],
        compact=True,
        reference="none",
        title="",
        legend=TAGS_LEGEND,
    )
    drawn = show_stage(a, picture, key="compare", other=b if both.in_order else None)
    table_twin(drawn)
    end_page()
withheld = False
aligned = both is not None and both.in_order
for which, side, other, label in (("A", a, b, first.label), ("B", b, a, second.label)):
    picture = Picture(
        ["lattice" if view == "lattices" else "strips"],
        decoder_rows(side.now, which=current.rows) if view == "tags" else (),
        compact=True,
        title=f"{which}: {label}",
        legend=LATTICE_LEGEND if aligned and which == "B" else "",
    )
    drawn = show_stage(side, picture, key=f"compare.{which}", other=other if aligned else None)
    withheld |= drawn.withheld
with st.container(horizontal=True):
    for which, side in (("A", a), ("B", b)):
        take_scene(side, of=which, disabled=withheld)
