"""The sums over all paths: alpha, beta, and Z at every position."""

from crfviz.ui.pictures import show_stage, table_twin, with_ghost
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.views.stage.parts import Cell, Picture
from crfviz.views.stage.steps import forward_backward_walk
from crfviz.views.strips.grids import (
    CONVENTIONS,
    MESSAGE,
    SWEEP_DISPLAYS,
    alpha_grid,
    beta_grid,
    consistency_note,
    consistency_rows,
)

LEGEND = (
    "→ ← or PageDown PageUp: step · circle: the number against the largest of its word · lines: "
    "the terms of its sum, as wide as their share"
)

PICTURES = {"lattice": "lattice", "graph": "graph"}

_, first, left, right = header("Forward–backward", 2.45, 1.38, 2.5, 2.5)
current = scene()
shown = bound_tabs("Picture", "picture", PICTURES, "lattice", at=first)
display = bound_tabs("Numbers", "sweep", SWEEP_DISPLAYS, "log", at=left)
convention = bound_tabs("Convention", "alpha", CONVENTIONS, "included", at=right)
grids = [
    with_ghost(current, lambda analysis: alpha_grid(analysis, display, convention)),
    with_ghost(current, lambda analysis: beta_grid(analysis, display)),
]
picture = Picture(
    [shown, "alpha", "beta", "strips"],
    consistency_rows(current.now, convention),
    grids,
    side=Cell(message=convention == MESSAGE),
    note=consistency_note(current.now, convention),
    legend=LEGEND,
    walk=forward_backward_walk(),
)
show_stage(current, picture, key="forward-backward")
table_twin(current, picture)
