"""Agreement panel: the figures of two annotators, and every word with two tags."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from crfviz.annotations.agreement import (
    Agreement,
    Estimate,
    SharedWord,
    annotators_agreement,
    entities_text,
)
from crfviz.annotations.records import CURATED, Annotation, DocumentSummary
from crfviz.text.schemes import begin, is_bio
from crfviz.ui.annotate.documents import store
from crfviz.ui.annotate.mixed_names import mixed_names
from crfviz.ui.annotate.queue import settle_button, settling_link
from crfviz.ui.session.bound_widgets import bound_select
from crfviz.ui.words import plain
from crfviz.views.formatting import count, per_cent, score
from crfviz.views.frames.chains import plain_table

MAX_ROWS = 500


def agreement_panel(document: DocumentSummary, who: str) -> None:
    """Draw the comparison of two annotators of a document; `who` settles names."""
    names = store().annotators(document.name)
    mixed_names(document, who)
    if len(names) < 2:
        st.info(
            "Agreement needs two annotators of this document: somebody else labels it under "
            "another name, or add a file that was exported elsewhere."
        )
        return
    left, right = st.columns(2)
    first = bound_select("Annotator", "first", names, names[0], at=left)
    others = [name for name in names if name != first]
    second = bound_select("and", "second", others, others[0], at=right)
    pairs = store().annotations(document.name, state="done")
    both = annotators_agreement(pairs, first, second)
    if not both.words:
        st.info(f"There is no sentence that both {plain(first)} and {plain(second)} finished.")
        return
    _summary(both, any(each.model for _, each in pairs if each.annotator in both.annotators))
    _by_tag(both)
    settle_button(document)
    settled = store().disputed(document.name)
    answers = {item.id: each for item, each in pairs if each.curation and settled.get(item.id)}
    _disagreements(both, {} if CURATED in both.annotators else answers)


def _summary(both: Agreement, proposed: bool) -> None:  # noqa: FBT001 - whether a model proposed
    figures = st.columns(4)
    figures[0].metric("Cohen's κ", _value(both.kappa), help=_interval(both.kappa))
    figures[1].metric("Same tag", per_cent(both.observed or 0, 1))
    if both.entity_f1 is not None:
        figures[2].metric("Entities F1", _value(both.entity_f1), help=_interval(both.entity_f1))
    apart = f", {count(both.words_apart, 'word')} split differently" if both.words_apart else ""
    proposals = (
        "Both corrected a model's proposals, so they agree more than two who start from nothing. "
    )
    st.caption(
        f"κ {_value(both.kappa)} ({_interval(both.kappa)}) over {count(both.words, 'word')} of "
        f"{count(both.sentences, 'sentence')} that both finished{apart}. "
        f"{proposals * proposed}The interval is drawn from samples of whole sentences."
    )


def _by_tag(both: Agreement) -> None:
    rows = [
        {"tag": tag, "κ": kappa.value, "from": kappa.low, "to": kappa.high}
        | ({"used": f"by {both.only[tag]} alone" if tag in both.only else ""} if both.only else {})
        for tag, kappa in both.kappa_by_tag.items()
    ]
    table = pd.DataFrame(rows)
    if both.entity_f1_by_type:
        types = {begin(name): score(f1, 3) for name, f1 in both.entity_f1_by_type.items()}
        table["entity F1"] = [types.get(tag, "") for tag in table["tag"]]
    st.markdown("**By tag**, each against all others")
    st.dataframe(
        table, hide_index=True, height=min(240, 38 + 35 * len(rows)), width="content",
        column_config={
            name: st.column_config.NumberColumn(format="%.3f") for name in ("κ", "from", "to")
        },
    )  # fmt: skip


def _disagreements(both: Agreement, answers: Mapping[int, Annotation]) -> None:
    """Draw a table of the words with two tags; `answers` has the curated answer by sentence id."""
    first, second = both.annotators
    bio = both.entity_f1 is not None
    found = both.entity_disagreements if bio else both.disagreements
    number, settled = len(found), sum(each.item.id in answers for each in found)
    title = count(number, "place" if bio else "word")
    title += " with different entities" if bio else " with two tags"
    st.markdown(f"**{title}**{f', {settled:,} settled' * bool(settled)}")
    if not number:
        return
    shown = found[:MAX_ROWS]
    table = pd.DataFrame(
        {
            "desk": [settling_link(each.item.id) for each in shown],
            "sentence": [each.item.position + 1 for each in shown],
            "place": [each.position + 1 for each in shown],
            **({} if bio else {"word": [each.word for each in shown]}),
            f"{'entity' if bio else 'tag'} by {first}": [each.tags[0] for each in shown],
            f"{'entity' if bio else 'tag'} by {second}": [each.tags[1] for each in shown],
            **({"settled as": [_answer(each, answers) for each in shown]} if settled else {}),
            "text": [each.item.text for each in shown],
        }
    )
    st.html(plain_table(table, ["desk"]))
    if number > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} of {number:,}.")


def _answer(word: SharedWord, answers: Mapping[int, Annotation]) -> str:
    """Return the tag of a word in the curated answer; empty without one."""
    if word.item.id not in answers:
        return ""
    answer = answers[word.item.id]
    if is_bio(answer.final):
        start, end = word.start, word.start + len(word.word)
        found = [
            (a, b, tag)
            for (a, b), tag in zip(answer.offsets, answer.final, strict=True)
            if a < end and start < b
        ]
        return entities_text(word.item.text, found)
    tags = dict(zip(answer.offsets, answer.final, strict=True))
    return tags.get((word.start, word.start + len(word.word)), "split differently")


def _value(both: Estimate) -> str:
    return "–" if both.value is None else score(both.value, 3)


def _interval(both: Estimate) -> str:
    if both.low is None or both.high is None:
        return "no interval: too few sentences, or one tag only"
    return f"95 % interval {score(both.low, 3)} to {score(both.high, 3)}"
