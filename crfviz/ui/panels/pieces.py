"""The view Words and pieces: the vocabulary, the stage over pieces, and the figures."""

from collections.abc import Sequence
from itertools import accumulate

import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.questions.pieces import Pieces
from crfviz.exceptions import CrfvizError
from crfviz.taggers.pieces import LARGEST, pieces, split_word, vocabulary
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_flag, bound_tabs
from crfviz.ui.session.scenario_state import view_option
from crfviz.ui.stage import FOLDED, draw, take_scene
from crfviz.ui.state.scenario import MAX_WORDS
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.widgets import narrowed
from crfviz.ui.words import plain
from crfviz.views.stage.picture import Picture, Subject
from crfviz.views.strips.pieces import (
    figure_frame,
    piece_note,
    piece_rows,
    pytorch_note,
    tag_frame,
)

# numbers of pieces in a vocabulary, with their labels
SIZES = {str(LARGEST): f"{LARGEST:,} pieces", "1000": "1,000", "250": "250"}
SHOWS = {"figures": "figures", "all": "lattice, all", "holes": "lattice, holes"}
ABOUT = (
    "Each piece has the emissions of its word, because the model was trained on words. So first "
    "pieces give exactly the chain of the words. Inner steps: transitions inside of words, nats."
)
LEGEND = "red dashes: not the tag of the word under first pieces · –: no tag"
LATTICE = "circle: marginal · thick: best path · red dashes: first pieces, which have no later tags"
FORMATS = {"inner steps": "{:.2f}", "log Z": "{:.4f}", "best score": "{:.4f}", "p": "{:.3g}"}


def split_sentence(scene: Scene, at: DeltaGenerator) -> Pieces | None:
    """Draw the choice of a vocabulary, and split the words; None, with a message, if that fails.

    The default is the largest vocabulary that splits any word.
    """
    splitting = (size for size in SIZES if max(_lengths(scene.words, int(size))) > 1)
    default = next(splitting, str(LARGEST))
    entries = int(bound_tabs("Vocabulary", "vocabulary", SIZES, default, at=at))
    ends = accumulate(_lengths(scene.words, entries))
    fit = max(1, sum(end <= MAX_WORDS for end in ends))
    if fit < len(scene.words):
        st.caption(f"The first {fit} of {len(scene.words)} words are drawn.")
    try:
        return pieces(scene.now.potentials.first_words(fit), entries=entries)
    except CrfvizError as error:
        message = str(error)
        st.info(plain(f"{message[0].upper()}{message[1:]}. Choose another model."))
        return None


def _lengths(words: Sequence[str], entries: int) -> list[int]:
    return [len(split_word(word, vocabulary(entries))) for word in words]


def show_pieces(scene: Scene, read: Pieces, reading: str) -> None:
    """Draw the best path of each reading over the pieces, and the lattice of the chosen one."""
    now = analyse((read.holes if reading == "holes" else read.all).potentials)
    picture = Picture(
        ["strips"] if reading == "figures" else ["strips", "lattice"],
        piece_rows(read),
        reference="first",
        contrast="word",
        title="",
        note=piece_note(read, scene.words[: len(read.starts)]),
        legend=LEGEND if reading == "figures" else LATTICE,
        changeable=False,
    )
    probabilistic = scene.tagger.probabilistic
    subject = Subject(now, now, probabilistic=probabilistic, folding=view_option(FOLDED))
    draw(subject, picture, key="pieces")


def show_figures(scene: Scene, read: Pieces) -> None:
    """Draw the figures of each reading, and pytorch-crf's path under a mask with holes."""
    table, words = st.columns([5, 4])
    frame = figure_frame(read)
    table.dataframe(frame.style.format({**FORMATS}, na_rep="–"), column_config=narrowed(frame))
    words.markdown(plain(pytorch_note(read, scene.words[: len(read.starts)])))
    words.caption(ABOUT)
    with st.container(key="twin", horizontal=True, vertical_alignment="center"):
        has_tables = bound_flag(st.toggle, "Show tables", "twin")
        take_scene(scene)
    if has_tables:
        tags = tag_frame(read)
        st.dataframe(tags, column_config=narrowed(tags))
