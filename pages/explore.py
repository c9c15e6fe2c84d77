"""The whole chain on one screen: what each decoder chooses, why they differ, and the lattice."""

from crfviz.ui.pictures import show_stage, table_twin
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.explanation import explain, explain_edits
from crfviz.views.stage.parts import Picture
from crfviz.views.strips.decoders import LABELS, decoder_rows
from crfviz.views.strips.grids import marginal_grid

LEGEND = "circle: marginal · thick line: Viterbi path · thin lines: backpointers · red dashes: "
CONTRASTS = {
    "left_to_right": "where left to right goes another way",
    "gold": "where gold goes another way",
}

header("Explore")
current = scene()
note = explain(current.now)
if current.edited and current.now.viterbi is not None:
    note = f"{explain_edits(current.trained, current.now)} {note}"
marked = current.scenario.right and "gold" in current.rows  # as links from Model errors do
contrast = "gold" if marked else "left_to_right"
picture = Picture(
    ["strips", "lattice"],
    decoder_rows(current.now, which=list(LABELS), gold=current.gold),
    contrast=contrast,
    asked=current.place("at"),
    note=note,
    legend=LEGEND + CONTRASTS[contrast],
)
show_stage(current, picture, key="explore")
table_twin(current, picture, grids=[marginal_grid(current.now, None)], save=True)
