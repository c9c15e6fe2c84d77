"""Viterbi step by step: forward through the words, then back along the backpointers."""

from crfviz.ui.panels.why import word_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.views.strips.decoders import backpointer_rows
from crfviz.views.strips.pictures import SWEEP_DISPLAYS, best_grid, viterbi_picture

(numbers,) = header("Viterbi", "content")
current = scene(windows=True)
display = bound_tabs("Numbers", "sweep", SWEEP_DISPLAYS, "log", at=numbers)
picture = viterbi_picture(current.now, current.gold, display)
drawn = show_stage(current, picture, key="viterbi")
word_panel(drawn)
table_twin(
    drawn,
    rows=backpointer_rows(current.now),
    grids=[] if picture.grids else [best_grid(current.now)],
    page="viterbi",
)
