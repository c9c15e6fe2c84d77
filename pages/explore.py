"""The whole chain on one screen: what each decoder chooses, why they differ, and the lattice."""

from crfviz.ui.pictures import show_stage, table_twin
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.explanation import explain, explain_edits, explain_error
from crfviz.views.stage.parts import Picture
from crfviz.views.strips.decoders import LABELS, decoder_rows
from crfviz.views.strips.grids import marginal_grid

LEGEND = "circle: marginal · thick line: Viterbi path · thin lines: backpointers · red dashes: "
LEFT_TO_RIGHT = "where left to right goes another way"
NOT_GOLD = "not the gold tag · green: gold"

header("Explore")
current = scene()
note = explain(current.now)
if current.edited and current.now.viterbi is not None:
    note = f"{explain_edits(current.trained, current.now)} {note}"
asked = current.place("at")
marked = bool(current.scenario.right) and "gold" in current.rows  # as links from Model errors do
if marked and asked is not None and current.now.viterbi is not None and current.gold:
    asked = asked[0], current.now.viterbi.path[asked[0]]  # what the model says there
    note = f"{explain_error(current.now, current.gold, asked[0])} {note}"
picture = Picture(
    ["strips", "lattice"],
    decoder_rows(current.now, which=list(LABELS), gold=current.gold),
    reference="gold" if marked else "viterbi",
    contrast="" if marked else "left_to_right",
    asked=asked,
    note=note,
    legend=LEGEND + (NOT_GOLD if marked else LEFT_TO_RIGHT),
)
show_stage(current, picture, key="explore")
table_twin(current, picture, grids=[marginal_grid(current.now, None)], save=True)
