"""Paths: the k best paths, samples of paths, and how far the effect of an edit reaches."""

from crfviz.ui.panels.distribution import DRAW, SHOWS
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, take_scene
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import decoder_rows
from crfviz.views.strips.paths import entropy_note

choice, controls = header("Paths", "content", "content")
current = with_rule(scene())
show = bound_tabs("Show", "paths", SHOWS, "best", at=choice)
if current.now.viterbi is None:
    rows = decoder_rows(current.now, which=["viterbi"])
    picture = Picture(["strips", "lattice"], rows, note=entropy_note(current.now))
    drawn = show_stage(current, picture, key="paths")
    take_scene(current, disabled=drawn.withheld)
    end_page()
with controls:
    picture, twin = DRAW[show](current)
drawn = show_stage(current, picture, key="paths")
table_twin(drawn, grids=twin)
