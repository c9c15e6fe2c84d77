"""Learn: mark the gold tags, and see what one gradient step of the CRF layer would change."""

from crfviz.ui.panels.learning import controls, lesson
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.views.stage.picture import Gradient, Picture, Row
from crfviz.views.stage.walks import learning_walk
from crfviz.views.strips.decoders import decoder_rows

LEGEND = (
    "click a tag in the lattice, or press Enter on it: it becomes gold · green: where the gold "
    "tags leave the Viterbi path"
)

(actions,) = header("Learn", "content")
current = scene()
learnt = lesson(current)
with actions:
    controls(learnt)
picture = Picture(
    ["strips", "lattice"],
    [*decoder_rows(current.now, which=["viterbi"]), Row("gold", "gold", learnt.right)],
    side=Gradient(learnt.step),
    asks="right",
    note=learnt.note,
    walk=learning_walk(),
    legend=LEGEND,
)
drawn = show_stage(current, picture, key="learn")
table_twin(drawn)
