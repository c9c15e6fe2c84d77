"""Log space and batching: what logarithms save, and how a padded batch is held still."""

from crfviz.ui.panels.log_space import batch_panel, sum_panel, underflow_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound import bound_tabs
from crfviz.ui.shell.frame import header

PARTS = {
    "sum": ("log-sum-exp of one cell", sum_panel),
    "underflow": ("α that underflows", underflow_panel),
    "batch": ("a padded batch", batch_panel),
}

_, choice = header("Log space", 1, 3)
current = scene()
part = bound_tabs(
    "Part", "log_space", {name: label for name, (label, _) in PARTS.items()}, "sum", at=choice
)
PARTS[part][1](current)
