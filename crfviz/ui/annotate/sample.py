"""A sample sentence with tags, and a list of the keys, shown while nothing is pasted."""

from html import escape

import streamlit as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.session.scenario_state import scenario
from crfviz.views.theme import tag_colours

KEYS = (
    ("a letter", "sets the tag beside it; its neighbours follow the model"),
    ("Tab", "goes to the next uncertain word"),
    ("Enter", "accepts the sentence and opens the next"),
    ("Backspace", "takes the last step back"),
    ("Shift + arrows", "select several words"),
    ("/", "cuts and joins words"),
)


def sample() -> None:
    """Draw the model's first example with the tags of the best path, and the keys."""
    model = scenario().model
    try:
        tagger, text = cached.tagger(model), cached.first_sentence(model)
        words = tagger.split(text)
        tags = [tagger.tags[k] for k in viterbi(tagger.potentials(words)).path]
    except CrfvizError:  # the model box shows the error
        return
    colour = dict(zip(tagger.tags, tag_colours(tagger.tags), strict=True))
    chips = "".join(
        f'<span><b dir="auto">{escape(word)}</b>'
        f'<i style="border-color: {colour[tag]}">{escape(tag)}</i></span>'
        for word, tag in zip(words, tags, strict=True)
    )
    rows = "".join(f"<div><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>" for key, does in KEYS)
    st.html(
        f'<figure class="crfviz-sample"><figcaption>A sentence as {escape(model)} proposes it, '
        f"before you correct it</figcaption><p>{chips}</p><dl>{rows}</dl></figure>"
    )
