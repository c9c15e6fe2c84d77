"""Panels of the views Naive way and Log space: all paths, log-sum-exp, underflow, a batch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from crfviz.chain.decoding.analysis import analyse
from crfviz.chain.demonstrations.log_space import (
    cell_inputs,
    log_sum_exp,
    padded_batch,
    telling_position,
    underflow,
)
from crfviz.chain.demonstrations.naive import (
    Enumeration,
    enumerate_paths,
    words_that_fit,
)
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.quiz_panel import Asked, ask_about
from crfviz.ui.scene import Scene
from crfviz.ui.session.bound_widgets import bound_buttons, bound_draft, bound_place, bound_tag
from crfviz.ui.session.page_end import end_page
from crfviz.ui.state.scenario import MAX_WORDS, Scenario
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.widgets import narrowed
from crfviz.ui.words import plain
from crfviz.views.formatting import count, minus
from crfviz.views.frames.demonstrations import (
    alpha_line,
    batch_frame,
    batch_note,
    direct_line,
    log_z_frame,
    path_frame,
    refusal,
    running_chart,
    sum_line,
    term_frame,
    underflow_chart,
    underflow_frame,
    underflow_note,
)

SHIFTS = ("0", "100", "-120", "800", "-800")  # nats
TIMES = ("1", "2", "5", "20")  # repetitions of the sentence
MAX_SENTENCES = 8  # in the batch
LONGEST = 40  # words of a sentence in the batch
LOG_SUM_STEPS = {"result": 4, "direct": 5}  # the step of `log_sum_walk` that reveals each part
TERM_FORMATS = {
    "score a": "{:.4f}",
    "a − max": "{:.4f}",
    "exp(a − max)": "{:.6g}",
    "exp(a), float32": "{:.4g}",
    "exp(a), float64": "{:.4g}",
}
TERM_COLUMNS = ["from j", *TERM_FORMATS][:4]  # columns that the first steps reveal one by one
_BATCH = "batch"  # draft: the sentences, one per line
TALLEST = 338  # maximum height of the list of paths, in pixels
_ROW_HEIGHT = 26
_MAX_ROWS = 11  # rows that fit into any window; a longer table scrolls


def sum_panel(scene: Scene, done: int) -> None:
    """Draw the log-sum-exp of one cell of α, or of Z, after `done` steps of `log_sum_walk`."""
    T = len(scene.words)
    word, to, shift = st.columns([2, 2, 4])
    places = {**scene.numbered(1), T: "Z, after the last word"}
    best = scene.now.paths["viterbi"] or scene.now.greedy
    first = telling_position(scene.now.potentials, scene.now.forward_backward, best)
    position = bound_place("α at word", "lse_word", places, first, at=word)
    with to:
        default = scene.tags[best[min(position, T - 1)]]
        tag = bound_tag("of tag", "lse_tag", scene.tags, default, disabled=position == T)
    added = bound_buttons(
        "Add to every score, nats",
        "lse_shift",
        {nats: minus(nats) for nats in SHIFTS},
        SHIFTS[0],
        help="log Σ exp(a + c) = c + log Σ exp(a): see which sums survive it.",
        at=shift,
    )
    chain = scene.now.potentials
    tables = scene.now.forward_backward
    inputs = cell_inputs(chain, tables, position, scene.tags.index(tag)) + float(added)
    summed_up = log_sum_exp(inputs)
    summed = "end(j)" if position == T else f"w(j, {tag})"
    steps = LOG_SUM_STEPS
    if done >= steps["result"]:
        st.text(f"a = α({position}, j) + {summed}: {sum_line(summed_up)}")
    for precision in summed_up.direct if done >= steps["direct"] else ():
        st.text(direct_line(summed_up, precision))
    if position < T and done >= steps["result"]:
        emission = chain.emissions[position, scene.tags.index(tag)].item()
        st.text(alpha_line(summed_up.result - float(added), emission, (position + 1, tag)))
    frame = term_frame(summed_up, scene.tags)
    if done < steps["direct"]:
        frame = frame[TERM_COLUMNS[: done + 1]]
    if done == 0:
        return
    shown = frame.style.format(dict[Any, Any](TERM_FORMATS), subset=list(frame.columns[1:]))
    high = len(frame) > _MAX_ROWS
    whole = _ROW_HEIGHT * (len(frame) + 2) + 12  # frame.css limits it to the available height
    with st.container(key="terms", height=whole, border=False) if high else st.container():
        st.dataframe(
            shown,
            hide_index=True,
            row_height=_ROW_HEIGHT,
            height="stretch" if high else "content",
        )


def underflow_panel(scene: Scene) -> None:
    """Draw α by word as float32 products, which vanish, beside its logarithm, which does not."""
    times = bound_buttons(
        "The sentence, so many times in a row",
        "times",
        {times: f"× {times}" for times in TIMES},
        TIMES[-1],
    )
    words, analysis = list(scene.words), scene.now
    if int(times) > 1:
        text = " ".join([scene.scenario.sentence] * int(times))
        longer = replace(scene.scenario, sentence=text, pins={})
        words, analysis = cached.words(scene.model, text)[:MAX_WORDS], cached.edited(longer)
    sums = underflow(analysis.potentials, analysis.forward_backward)
    st.text(underflow_note(sums, len(scene.tags)))
    picture, table = st.columns([3, 2])
    picture.container(key="wide-underflow").altair_chart(
        underflow_chart(sums), alt="log of the summed α by word; the table has the numbers"
    )
    frame = underflow_frame(sums, words)
    table.dataframe(
        frame.style.format({"log Σ α": "{:.3f}", "Σ α, float32": "{:.3g}"}),
        hide_index=True,
        height=340,
        column_config=narrowed(frame),
    )
    st.caption(
        "The weights exp(w + e) of each step are divided by their sum, in both ways: no product "
        f"can overflow, it can only vanish. At most {MAX_WORDS} words."
    )


def batch_panel(scene: Scene) -> None:
    """Draw the box for sentences, and their forward tables as a padded batch."""
    others = [one.text for one in cached.examples(scene.model)]
    others = [text for text in others if text != scene.scenario.sentence][:2]
    first = "\n".join([scene.scenario.sentence, *others])
    box, choice = st.columns([4, 1.4])
    text = bound_draft(st.text_area, "One sentence a line", _BATCH, first, height=98, at=box)
    tag = bound_tag("α of tag", "batch_tag", scene.tags, scene.tags[0], at=choice)
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_SENTENCES:
        st.info(f"The first {MAX_SENTENCES} of {len(lines)} lines are in the batch.")
    sentences, chains = _read(scene, lines[:MAX_SENTENCES])
    if not chains:
        st.info("Type a sentence on a line of its own.")
        return
    batch = padded_batch(chains)
    st.text(batch_note(batch))
    frame = batch_frame(batch, sentences, scene.tags.index(tag), scene.tags)
    rows = 3 * len(chains) + 1
    st.dataframe(frame, row_height=_ROW_HEIGHT, height=_ROW_HEIGHT * min(rows, 13) + 12)
    st.dataframe(
        log_z_frame(batch).style.format(precision=9), hide_index=True, row_height=_ROW_HEIGHT
    )
    st.caption(
        "α is held still after a sentence ends (=), so the last column holds every sentence. "
        f"Edits of single words and pins are left out here; {LONGEST} words of a line count."
    )


def _read(scene: Scene, lines: list[str]) -> tuple[list[list[str]], list[Potentials]]:
    edits = replace(scene.scenario.edits, emissions={})
    sentences, chains = [], []
    for line in lines:
        try:
            words = cached.words(scene.model, line)[:LONGEST]
            if words:
                alone = replace(scene.scenario, sentence=" ".join(words), edits=edits, pins={})
                chains.append(cached.edited(alone).potentials)
                sentences.append(words)
        except CrfvizError as error:
            st.error(plain(str(error)))
    return sentences, chains


def chosen_words(scene: Scene, place: DeltaGenerator) -> int:
    """Draw the choice of how many first words to enumerate; return it.

    The default is the largest number whose paths can be enumerated. If not even one word fits, the
    run ends with a message.
    """
    potentials = scene.now.potentials
    fit = words_that_fit(potentials)
    if fit < potentials.num_tokens:
        st.info(plain(refusal(potentials, fit)))
    if fit == 0:
        end_page()
    numbers = {n: f"the first {count(n, 'word')}" for n in range(1, fit + 1)}
    return bound_place("First words", "naive", numbers, fit, at=place, label_visibility="collapsed")


@st.cache_data(max_entries=32, show_spinner="Adding up every path …", hash_funcs=cached.BY_NUMBERS)
def enumeration(now: Scenario, words: int) -> Enumeration:
    """Return all paths of the first words and their scores, under the edits and pins."""
    return enumerate_paths(cached.edited(now).potentials.first_words(words))


def ask_about_first(scene: Scene, words: int) -> Asked | None:
    """Draw and return the quiz question about the first words; None without a question."""
    now = analyse(scene.now.potentials.first_words(words))
    trained = analyse(scene.trained.potentials.first_words(words)) if scene.edited else now
    return ask_about(now, trained, "naive")


def show_listing(every: Enumeration, tags: Sequence[str], listed: int) -> None:
    """Draw the list of the `listed` best paths, and the curve of their running sum."""
    listing, picture = st.columns([3, 2])
    frame = path_frame(every, tags)
    frame = frame[frame["rank"] <= listed]
    listing.dataframe(
        frame.style.format({"score": "{:.4f}", "p": "{:.3g}", "running sum / Z": "{:.6f}"}),
        hide_index=True,
        height=min(TALLEST, 38 + 35 * len(frame)),
    )
    picture.container(key="wide-running").altair_chart(
        running_chart(every, listed),
        alt="running sum of exp(score) against Z; the list has the numbers",
    )
