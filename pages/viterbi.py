"""Viterbi step by step: forward over the columns, back along the backpointers."""

from crfviz.ui.pictures import show_stage, table_twin
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.views.stage.parts import Cell, Picture
from crfviz.views.stage.steps import viterbi_walk
from crfviz.views.strips.decoders import backpointer_rows, decoder_rows
from crfviz.views.strips.grids import best_grid

LEGEND = (
    "→ ← or PageDown PageUp: step · ↑ ↓ or click: choose a cell · circle: best(t, k) against the "
    "largest of its word · thick: best path · dashes: backpointers that tie"
)

header("Viterbi")
current = scene()
picture = Picture(
    ["strips", "lattice"],
    decoder_rows(current.now, which=["viterbi", "gold"], gold=current.gold),
    side=Cell(),
    walk=viterbi_walk(possible=current.now.viterbi is not None),
    legend=LEGEND,
)
show_stage(current, picture, key="viterbi")
table_twin(
    current,
    picture,
    rows=backpointer_rows(current.now),
    grids=[best_grid(current.now)],
)
