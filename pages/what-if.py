"""What if: which tags flip and which scores change if the sentence is written differently."""

from crfviz.ui.panels.what_if import (
    choose_change,
    show_changed,
    show_numbers,
    show_unchanged,
    tried,
    ways_on,
)
from crfviz.ui.scene import scene, with_rule
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header

header("What if")
current = scene()
every = tried(current.scenario)
kind = choose_change(every)
changed = every[kind]
if isinstance(changed, str):
    show_unchanged(with_rule(current), changed, every)
    end_page()
show_changed(current, changed, kind)
ways_on(changed)
show_numbers(changed)
