"""Why this tag and not that one: the terms of the score gap, pins, and the smallest flips."""

from crfviz.ui.panels.why import attribution_panel, flips_panel, pin_panel, question, unpin_button
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin, take_scene
from crfviz.views.strips.why import why_picture

LEGEND = (
    "click a tag to compare it, or an emission bar to see which words it comes from · "
    "thick line: best path · red dashes: the best path with that tag"
)

(pins,) = header("Why this tag", "content")
plain = scene()
current = with_rule(plain)
asked = question(current)
before = current.trained if current.edited else None
picture = why_picture(current.now, asked, current.gold, before, legend=LEGEND)
if asked is None:
    drawn = show_stage(current, picture, key="why")
    unpin_button(current)
    take_scene(current, disabled=drawn.withheld)
    end_page()
with pins:  # in the head of the page, always visible
    pin_panel(current, asked)
drawn = show_stage(current, picture, key="why")
attribution_panel(current, asked)
flips_panel(plain, asked)
table_twin(drawn)
