"""Words and pieces: a CRF over first pieces only, over all pieces, and under a mask with holes."""

from crfviz.ui.panels.pieces import SHOWS, show_figures, show_pieces, split_sentence
from crfviz.ui.scene import scene
from crfviz.ui.session.bound_widgets import bound_tabs
from crfviz.ui.session.page_end import end_page
from crfviz.ui.shell.frame import header
from crfviz.ui.stage import show_stage, take_scene
from crfviz.views.stage.picture import Picture
from crfviz.views.strips.decoders import decoder_rows

vocabulary, choice = header("Words and pieces", 240, "content")
current = scene()
read = split_sentence(current, vocabulary)
if read is None:
    rows = decoder_rows(current.now, which=["viterbi"])
    show_stage(current, Picture(["strips"], rows), key="pieces.words", asks=False)
    take_scene(current)
    end_page()
shown = bound_tabs("Show", "pieces", SHOWS, "figures", at=choice)
show_pieces(current, read, shown)
show_figures(current, read)
