"""Forward–backward: the sums over all paths, α, β, and Z at every position."""

from crfviz.ui.panels.why import word_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.views.strips.pictures import CONVENTIONS, SWEEP_DISPLAYS, sweep_picture

PICTURES = {"lattice": "lattice", "graph": "graph"}

first, left, right = header("Forward–backward", "content", "content", "content", display=True)
current = scene(windows=True)
shown = bound_tabs("Picture", "picture", PICTURES, "lattice", at=first)
display = bound_tabs("Numbers", "sweep", SWEEP_DISPLAYS, "log", at=left)
convention = bound_tabs("Convention", "alpha", CONVENTIONS, "included", at=right)
before = current.trained if current.edited else None
picture = sweep_picture(current.now, before, shown=shown, display=display, convention=convention)
drawn = show_stage(current, picture, key="forward-backward")
word_panel(drawn)
table_twin(drawn, page="forward-backward")
