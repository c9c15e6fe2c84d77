"""Ways on where all decoders agree: the closest change that parts them, and an example."""

import math
from dataclasses import replace
from html import escape
from urllib.parse import urlencode

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.edits import END, START, Edits
from crfviz.chain.questions.flips import Flip, smallest_flips
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.stage import Drawn
from crfviz.ui.state.link import encode
from crfviz.ui.state.scenario import Scenario
from crfviz.views.formatting import score

TRIED = 20  # smallest changes to try
MAX_TAGS = 64  # the time of the search grows with K⁴
STEP = 0.01  # nats beyond the breakpoint, where the other path wins


def ways_to_differ(drawn: Drawn) -> None:
    """Draw links to the closest change and to an example, if all decoders of a scene agree."""
    scene = drawn.scene
    now = scene.now
    if now.viterbi is None or scene.windowed or drawn.withheld or decoders_differ(now):
        return
    links = []
    if found := closest_change(scene.scenario):
        change, edits = found
        state = replace(scene.scenario, edits=edits)
        links.append(f'<a data-closest href="?{_query(state)}">{escape(change)}</a>')
    if text := differing_example(scene.model, scene.scenario.sentence):
        state = Scenario(scene.model, text)
        links.append(f'<a data-example href="?{_query(state)}">Open an example: {escape(text)}</a>')
    if links:
        st.html(f'<p class="crfviz-apart">To see decoders differ: {" · ".join(links)}</p>')


def decoders_differ(analysis: Analysis) -> bool:
    """Return whether two of the four decoders choose different tags."""
    paths = [analysis.greedy, analysis.left_to_right, analysis.max_marginal]
    best = analysis.viterbi.path if analysis.viterbi else None
    return any(path != best for path in paths)


def _query(state: Scenario) -> str:
    return escape(urlencode(encode(state).params))


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=cached.BY_NUMBERS)
def closest_change(now: Scenario) -> tuple[str, Edits] | None:
    """Return the smallest change of one weight after which decoders differ, and its edits.

    Returns:
        The change in words; None if the first changes part no decoders, or the chain is too large,
        scaled, pinned, or has a transition matrix for each step.
    """
    chain = cached.edited(now)
    if now.pins or now.edits.strength != 1.0 or len(chain.tags) > MAX_TAGS:
        return None
    try:
        flips = smallest_flips(chain.potentials, TRIED)
    except CrfvizError:
        return None
    for flip in flips:
        change, edits = _changed(now.edits, flip, chain)
        if decoders_differ(cached.edited(replace(now, edits=edits))):
            return change, edits
    return None


def _changed(edits: Edits, flip: Flip, chain: Analysis) -> tuple[str, Edits]:
    """Return a flip in words, and the edits that go one step beyond its breakpoint."""
    tags, (kind, *where) = chain.tags, flip.weight
    up = flip.change >= 0
    value = (math.floor(flip.value / STEP) + 1 if up else math.ceil(flip.value / STEP) - 1) * STEP
    value = round(value, 2)
    verb = f"{'raise' if up else 'lower'} {{}} from {score(flip.trained)} to {score(value)}"
    if kind == "emission":
        position, tag = where
        name = f"{tags[tag]} at “{chain.words[position]}”"
        return verb.format(name), edits.with_emission(position, tags[tag], value)
    source = START if kind == "start" else tags[where[0]]
    target = END if kind == "end" else tags[where[-1]]
    name = f"{source}→{target}"
    return verb.format(name), edits.with_transition(source, target, value)


def differing_example(model: str, sentence: str) -> str | None:
    """Return the text of a model's first other example in which decoders differ; None without."""
    for example in cached.examples(model):
        if example.text == sentence:
            continue
        try:
            analysis = cached.edited(Scenario(model, example.text))
        except CrfvizError:
            continue
        if decoders_differ(analysis):
            return example.text
    return None
