"""The panel What a CRF layer would add: the gain, the changed sentences, and a new model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch

from crfviz.chain.edits import DECIMALS, END, START, Edits, Move
from crfviz.chain.potentials import Potentials
from crfviz.corpus.run.tagging import Progress, score_sentences
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.corpus.table import Table
from crfviz.corpus.tables.layer_gain import (
    FOLDS,
    LayerGain,
    changed_table,
    gain_table,
    layer_gain,
    sample_of,
)
from crfviz.corpus.training.transitions import FittedTransitions
from crfviz.taggers.brought.parsed_model import ParsedModel, Reading, SentenceScores, steps_of
from crfviz.taggers.brought.validated_model import validate
from crfviz.taggers.registry import model_path, store_model
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence
from crfviz.ui.errors.error_analysis import ExplorerLinks, gain_in_worker
from crfviz.ui.errors.lists import show_table
from crfviz.ui.errors.on_request import OnRequest
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.session.background import BACKGROUND
from crfviz.ui.session.permission import uploads_allowed, uploads_off
from crfviz.ui.session.scenario_state import change
from crfviz.ui.session.scheduling import pause
from crfviz.ui.session.session_store import get_value, notify, set_value
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.widgets import guarded
from crfviz.ui.words import quote
from crfviz.views.formatting import count

EXPLORE = "pages/explore.py"
MAX_WORDS_FITTED = 50_000  # half a minute on one core; larger files are sampled
KEPT = "layer.kept"  # session key: whether the reader pressed Keep
ABOUT = (
    "Transitions, start and end scores are fitted on the emissions of this model alone; its own "
    f"transitions do not count. Each of {FOLDS} parts is decoded by scores fitted on the others."
)
ABOUT_LINKS = (
    "Both links open Explore: *fitted* with the fitted scores of this part as edits, divided by "
    "the scale of the emissions, which leaves every path as it is; *zero* without transitions."
)
FIT = OnRequest("layer", "Fit transitions", "Fitting transitions")


@dataclass(frozen=True, eq=False)
class Measured:
    """The gain of fitted transitions on the sentences, with the changed ones."""

    layer: LayerGain
    sentences: Sequence[Sentence]
    changes: Table  # one row per repaired or spoiled sentence
    # explorer links of the changes, with fitted and with zero transitions
    links: tuple[list[str | None], list[str | None]]


@st.fragment
@guarded("What a CRF layer would add")
def added_layer(analysis: Analysed) -> None:
    """Draw the button that fits transitions, or the gain if they were fitted."""
    st.markdown("**What a CRF layer would add**")
    measured: Measured | None = FIT.result(analysis)
    if measured is None:
        st.caption(ABOUT)
        FIT.draw_button(analysis)
        return
    gain, fitted = measured.layer.gain, measured.layer.fitted
    draw = {"adds": st.success, "loses": st.warning, "cannot tell": st.info}[gain.verdict]
    draw(str(gain))
    if len(measured.sentences) < len(analysis.sentences):
        st.caption(
            f"A random {count(len(measured.sentences), 'sentence')} of "
            f"{len(analysis.sentences):,}: at most {MAX_WORDS_FITTED:,} words are fitted."
        )
    st.caption(f"{ABOUT} On all of them the scale is {fitted.scale:.3g} and l2 is {fitted.l2:g}.")
    show_table("layer_gain", gain_table(gain))
    if measured.changes:
        columns = dict(zip(("fitted", "zero"), measured.links, strict=True))
        show_table("layer_changes", measured.changes, links=columns)
        st.caption(ABOUT_LINKS)
    _keep(analysis.results.tagger, measured)


def fit_requested(analysis: Analysed, place: DeltaGenerator) -> None:
    """Fit transitions, with a progress bar at `place`, if the reader has clicked the button."""

    def work(report: Progress) -> Measured:
        tagger = analysis.results.tagger
        numbers = sample_of(analysis.sentences, MAX_WORDS_FITTED)
        layer = _fitted(tagger, [analysis.sentences[number] for number in numbers], report)
        return _with_links(tagger, layer, numbers, analysis.sentences)

    FIT.run_if_requested(analysis, place, work)


def _fitted(tagger: Tagger, sentences: Sequence[Sentence], report: Progress) -> LayerGain:
    """Fit transitions in the worker process, or here if only this process has the model."""
    if model_path(tagger.name) is None:
        return layer_gain(
            tagger, sentences, lambda share: report(round(100 * share), 100), pause=pause
        )
    work = partial(gain_in_worker, model_reference(tagger.name), sentences)
    return BACKGROUND.run(work, report, pause=pause)


def _with_links(
    tagger: Tagger, layer: LayerGain, numbers: Sequence[int], every: Sequence[Sentence]
) -> Measured:
    """Return the gain, with a table row and two explorer links per changed sentence.

    Args:
        tagger: the model whose emissions were used.
        layer: the gain on a sample of the sentences.
        numbers: the index in `every` of each sampled sentence.
        every: all sentences.
    """
    sentences = [every[number] for number in numbers]
    rows = changed_table(layer, sentences, tagger.tags)
    first = tagger.potentials_batch([sentences[0].tokens], constrained=False)[0]
    zero = without_transitions(first, tagger.scheme)
    of_folds = [fitted_edits(fold, tagger.tags, tagger.scheme) for fold in layer.gain.folds]
    links = ExplorerLinks(tagger, dict(enumerate(sentences)))
    addresses: tuple[list[str | None], list[str | None]] = ([], [])
    for row in rows:
        number, position = int(row["sentence"] or 0) - 1, int(row["position"] or 0) - 1
        own = of_folds[layer.gain.fold_of[number]]
        for column, edits in zip(addresses, (own, zero), strict=True):
            column.append(None if edits is None else links.to(number, position, edits=edits))
        row["sentence"] = numbers[number] + 1
        pause()
    return Measured(layer, sentences, rows, addresses)


def fitted_edits(
    fitted: FittedTransitions, tags: Sequence[str], scheme: str | None
) -> Edits | None:
    """Return edits that give a model the paths of the fitted chain.

    The fitted chain scales the emissions. Edits leave them unchanged and divide all other scores by
    the scale. Returns None if the scale is not positive, because no edits give these paths then.
    """
    if fitted.scale <= 0:
        return None
    cells: dict[Move, float] = {}
    for name, start, end, row in zip(
        tags, fitted.start.tolist(), fitted.end.tolist(), fitted.transitions.tolist(), strict=True
    ):
        cells[START, name], cells[name, END] = start, end
        cells |= {(name, to): score for to, score in zip(tags, row, strict=True)}
    scaled = {move: round(score / fitted.scale, DECIMALS) for move, score in cells.items()}
    return Edits(scaled, constrained=scheme is None)


def without_transitions(chain: Potentials, scheme: str | None) -> Edits:
    """Return edits that set all transitions, start and end scores of a model to 0."""
    tables = (chain.transitions, chain.start, chain.end)
    if not any(bool(table.any()) for table in tables):
        return Edits(constrained=scheme is None)
    if all(bool(torch.isfinite(table).all()) for table in tables):
        return Edits(strength=0.0, constrained=scheme is None)
    K = chain.num_tags
    zeros = torch.zeros(K, dtype=torch.float64)
    fitted = FittedTransitions(zeros.expand(K, K), zeros, zeros, 1.0, 0.0)
    edits = fitted_edits(fitted, chain.tag_names, scheme)
    assert edits is not None
    return edits


def _keep(tagger: Tagger, measured: Measured) -> None:
    """Draw a box for a name, and the button that stores the fitted chains as a model."""
    if not uploads_allowed():
        st.caption(uploads_off("models"))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="layer-keep"):
        name = st.text_input("Name", f"{tagger.name}-fitted", max_chars=80, key="layer.name")
        st.button(
            "Keep as a model",
            on_click=set_value,
            args=(KEPT, True),
            key="layer.keep",
            help="These sentences, their scaled emissions, and transitions fitted on all of them",
        )
    if get_value(KEPT):  # the run of the click may have been interrupted
        set_value(KEPT, False)
        stored = store_fitted(tagger, measured, name)
        change(model=stored)
        notify(f"{quote(stored)} is in the list of models.")
        st.switch_page(EXPLORE)


def store_fitted(tagger: Tagger, measured: Measured, name: str) -> str:
    """Store the sentences under the fitted transitions as a model; return its name.

    Raises:
        FormatError: there are more scores than a model may have.
        ModelError: the name has no letter, or the folder cannot be written.
    """
    chains = score_sentences(tagger, measured.sentences, pause).trained
    parts = []
    for number, (chain, sentence) in enumerate(zip(chains, measured.sentences, strict=True), 1):
        fitted = measured.layer.fitted.chain(chain)
        where = f"sentence {number}"
        parts.append(
            SentenceScores(
                where,
                fitted.emissions,
                sentence.tokens,
                sentence.tags,
                steps=steps_of(vars(fitted)),
            )
        )
    draft = ParsedModel(
        kind=f"Emissions of {tagger.name} with fitted transitions", parts=parts, tags=tagger.tags
    )
    return store_model(validate(draft, Reading()), name)
