"""Explore: the whole chain on one screen, with the path of each decoder, and why they differ."""

from dataclasses import replace

from crfviz.ui import tour
from crfviz.ui.panels.differences import ways_to_differ
from crfviz.ui.panels.why import word_panel
from crfviz.ui.scene import scene
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, table_twin
from crfviz.ui.state.scenario import covered
from crfviz.views.explanation import explain_answers, explain_edits, explain_error
from crfviz.views.stage.picture import Row
from crfviz.views.strips.pictures import CIRCLES, explore_picture, marginal_grid

THEIRS = Row("theirs", "theirs", None, about="The tags that the file has from another tagger.")
NOT_GOLD = "red dashes: not the gold tag · green: gold"

header("Explore")
tour.draw_greeting()
current = scene(windows=True)
picture = explore_picture(current.now, current.gold)
note = picture.note
if current.edited and current.now.viterbi is not None:
    note = f"{explain_edits(current.trained, current.now)} {note}"
asked = current.place("at")
is_gold_shown = current.gold and "gold" not in covered(current.scenario.view)
marked = bool(current.scenario.right and is_gold_shown)  # links from Model errors mark gold
if marked and asked is not None and current.now.viterbi is not None and current.gold:
    asked = asked[0], current.now.viterbi.path[asked[0]]  # the tag that the model predicts
    note = f"{explain_error(current.now, current.gold, asked[0])} {note}"
if current.theirs is not None and current.now.viterbi is not None:
    error = asked[0] if marked and asked else None
    note = f"{explain_answers(current.now, current.theirs, current.gold, error)} {note}"
    theirs = replace(THEIRS, tags=current.theirs, against=None if marked else "viterbi")
    picture = replace(picture, rows=[*picture.rows, theirs])
picture = replace(picture, asked=asked, note=note)
if marked:
    picture = replace(picture, reference="gold", contrast="", legend=f"{CIRCLES} · {NOT_GOLD}")
drawn = show_stage(current, picture, key="explore")
word_panel(drawn)
ways_to_differ(drawn)
table_twin(drawn, grids=[marginal_grid(current.now, None)])
