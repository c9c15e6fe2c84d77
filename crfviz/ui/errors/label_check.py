"""The view Label errors: suspicious gold tags by the model, and by CRFs that did not see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crfviz.corpus.run.errors import words_in_context
from crfviz.corpus.run.tagging import Progress
from crfviz.corpus.table import DIGITS, Table
from crfviz.corpus.tables.inconsistent_names import equal_runs, inconsistent_names
from crfviz.corpus.tables.label_errors import SuspectLabel, label_errors
from crfviz.corpus.tables.layer_gain import sample_of
from crfviz.text.sentences import Sentence
from crfviz.ui.errors.error_analysis import ExplorerLinks
from crfviz.ui.errors.lists import show_table
from crfviz.ui.errors.on_request import OnRequest
from crfviz.ui.errors.runs import Analysed
from crfviz.ui.session.background import BACKGROUND
from crfviz.ui.session.scheduling import pause
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.widgets import guarded
from crfviz.views.formatting import count, per_cent

BY_HEART = 0.995  # token accuracy from which the model may know the labels by heart
MAX_WORDS_CHECKED = 20_000  # half a minute on one core; larger files are sampled
MAX_NAMES, MAX_LISTED = 100, 10  # names with several types, and sentences of each
BUTTON = "Check with a CRF that has not seen them"
ABOUT = (
    "Five CRFs over word features are fitted, each on four fifths of the sentences, and judge the "
    "remaining fifth. The largest log odds of another tag against gold come first."
)
CHECK = OnRequest("labels", BUTTON, "Checking labels")


@dataclass(frozen=True, eq=False)
class Checked:
    """The suspicious gold tags, with an explorer link each."""

    rows: Table
    links: list[str | None]
    num_sentences: int  # checked ones


def is_it_the_gold(analysis: Analysed) -> None:
    """Draw the errors whose gold tags should be reviewed, most suspect first, and the check."""
    st.caption(
        "Where the model is sure of something else, either it or the annotator is wrong: the least "
        "probable gold comes first. Review these; do not correct them blindly."
    )
    agreement = analysis.record["viterbi"]["token_accuracy"]
    if by_heart := agreement >= BY_HEART:
        st.warning(
            f"The model agrees with {per_cent(agreement, 1)} of these labels: "
            "it may know them by heart."
        )
        _check(analysis)
    for name in ("entity_suspects", "suspects"):
        if name in analysis.tables:
            show_table(name, analysis.tables[name], links={"explore": analysis.links[name]})
    if not by_heart:
        _check(analysis)
    _mixed_names(analysis)


def _mixed_names(analysis: Analysed) -> None:
    """Draw the names that stand under different types in the model's answers."""
    results = analysis.results
    told = results.names(results.tags["viterbi"])
    if len(told) != len(analysis.sentences):  # empty sentences are not in a run
        return
    answers = [(s.tokens, tags) for s, tags in zip(analysis.sentences, told, strict=True)]
    opener = analysis.opener or ExplorerLinks(results.tagger, dict(enumerate(analysis.sentences)))
    rows: Table = []
    links: list[str | None] = []
    for each in inconsistent_names(answers)[:MAX_NAMES]:
        for kind, numbers in each.types.items():
            first = next(equal_runs(analysis.sentences[numbers[0]].tokens, each.name.split(" ")), 0)
            shown = ", ".join(str(n + 1) for n in numbers[:MAX_LISTED])
            more = ", …" if len(numbers) > MAX_LISTED else ""
            rows.append({"name": each.name, "type": kind, "sentences": shown + more})
            links.append(opener.to(numbers[0], first))
    if rows:
        show_table("names", rows, links={"explore": links})


@st.fragment
@guarded("The check of the labels")
def _check(analysis: Analysed) -> None:
    """Draw the button that starts the check, or its list."""
    checked: Checked | None = CHECK.result(analysis)
    if checked is None:
        CHECK.draw_button(analysis, ABOUT)
        return
    show_table("label_errors", checked.rows, links={"explore": checked.links})
    st.caption(ABOUT)
    if checked.num_sentences < len(analysis.sentences):
        st.caption(
            f"A random {count(checked.num_sentences, 'sentence')} of "
            f"{len(analysis.sentences):,}: at most {MAX_WORDS_CHECKED:,} words are checked."
        )


def check_requested(analysis: Analysed, place: DeltaGenerator) -> None:
    """Check the labels, with a progress bar at `place`, if the reader has clicked the button."""

    def work(report: Progress) -> Checked:
        numbers = sample_of(analysis.sentences, MAX_WORDS_CHECKED)
        sentences = [analysis.sentences[number] for number in numbers]
        found = BACKGROUND.run(partial(check_in_worker, sentences), report, pause=pause)
        return _with_links(analysis, found, numbers)

    CHECK.run_if_requested(analysis, place, work)


def check_in_worker(sentences: Sequence[Sentence], report: Progress) -> list[SuspectLabel]:
    """Run `label_errors` in a worker process.

    Raises:
        CrfvizError: there are too few sentences, or one has no tags.
    """
    return label_errors(sentences, report=lambda share: report(round(100 * share), 100))


def _with_links(
    analysis: Analysed, found: Sequence[SuspectLabel], numbers: Sequence[int]
) -> Checked:
    """Return a table row and an explorer link for each suspicious tag.

    Args:
        analysis: the run whose labels were checked.
        found: suspicious tags, in a sample of the sentences.
        numbers: the index of each sampled sentence among all.
    """
    links = analysis.opener or ExplorerLinks(
        analysis.results.tagger, dict(enumerate(analysis.sentences))
    )
    rows: Table = []
    addresses: list[str | None] = []
    for each in found:
        number, position = numbers[each.sentence], each.position
        rows.append(
            {
                "sentence": number + 1,
                "position": position + 1,
                "around": words_in_context(analysis.sentences[number].tokens, position, position),
                "gold": each.given,
                "likely": each.likely,
                "log_odds": round(each.log_odds, DIGITS),
            }
        )
        addresses.append(links.to(number, position))
        pause()
    return Checked(rows, addresses, len(numbers))
