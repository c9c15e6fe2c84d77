"""The sums over all paths: alpha, beta, and Z at every position."""

from crfviz.ui.pictures import show_stage, table_twin, with_ghost
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.views.stage.parts import Cell, Picture
from crfviz.views.strips.grids import (
    CONVENTIONS,
    SWEEP_DISPLAYS,
    alpha_grid,
    beta_grid,
    consistency_note,
    consistency_rows,
)

LEGEND = (
    "Σ α, float32: the same recursion without logarithms, the weights of each step scaled to sum "
    "to 1; the numbers only shrink, and a cell is lost when its product becomes 0"
)

_, left, right = header("Forward–backward", 2, 2, 3)
current = scene()
display = bound_tabs("Numbers", "sweep", SWEEP_DISPLAYS, "log", at=left)
convention = bound_tabs("Convention", "alpha", CONVENTIONS, "included", at=right)
grids = [
    with_ghost(current, lambda analysis: alpha_grid(analysis, display, convention)),
    with_ghost(current, lambda analysis: beta_grid(analysis, display)),
]
picture = Picture(
    ["alpha", "beta", "strips"],
    consistency_rows(current.now),
    grids,
    side=Cell(),
    note=consistency_note(current.now),
    legend=LEGEND,
)
show_stage(current, picture, key="forward-backward")
table_twin(current, picture)
