"""Log space and batching: how logarithms prevent underflow, and how padding is masked."""

from crfviz.ui.panels.demonstrations import batch_panel, sum_panel, underflow_panel
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_steps, take_scene
from crfviz.views.stage.walks import ONE_PICTURE, log_sum_walk

SUM = "sum"
PARTS = {
    SUM: "log-sum-exp of one cell",
    "underflow": "α that underflows",
    "batch": "a padded batch",
}
OTHERS = {"underflow": underflow_panel, "batch": batch_panel}

choice, along = header("Log space", "content", "content")
current = scene()
part = bound_tabs("Part", "log_space", PARTS, SUM, at=choice)
done = show_steps(current, log_sum_walk() if part == SUM else ONE_PICTURE, key="log-space")
with along:
    take_scene(current, "forward-backward", has_picture=False)
if part == SUM:
    sum_panel(current, done)
else:
    OTHERS[part](current)
