"""Two models on the same sentences: wins, losses, and the sentences behind them."""

from functools import partial

import streamlit as st

from crfviz.corpus.table import Table
from crfviz.corpus.tables.evaluation import KINDS, comparison_tables
from crfviz.ui import cached
from crfviz.ui.errors.lists import ANY, show_table
from crfviz.ui.errors.looking import ExplorerLinks
from crfviz.ui.errors.runs import Analysed, analysed
from crfviz.ui.errors.source import mapped_sentences
from crfviz.ui.session.bound import bound_buttons, bound_select
from crfviz.ui.session.current import publish
from crfviz.ui.widgets import guarded
from crfviz.ui.words import plain


def two_models(analysis: Analysed) -> None:
    """Choose another model, run it if need be, and set both side by side."""
    name = analysis.results.tagger.name
    others = [other for other in cached.models() if other != name and "/" not in other]
    if not others:
        st.info("There is no other model to compare with.")
        return
    tags = set(analysis.results.tagger.tags)
    ready = [other for other in others if other in cached.ready_models()]
    known = [(other, cached.known_tagger(other)) for other in ready]
    alike = [other for other, tagger in known if tagger and set(tagger.tags) == tags]
    label = f"{plain(name)} against"
    second = bound_select(label, "against", others, [*alike, *others][0], width=360)
    publish()
    tagger = cached.tagger(second)
    if set(tagger.tags) != tags:
        st.caption(
            plain(
                f"{second} has other tags than {name}: each is judged by the file in its own tags."
            )
        )
    sentences = mapped_sentences(tagger, analysis.source)
    other = analysed(tagger, analysis.source, sentences) if sentences else None
    if other is None:
        return
    tables = analysis.once(
        f"against {other.key}",
        lambda: comparison_tables(analysis.results, other.results, analysis.source.sentences),
    )
    show_table("models", tables["models"], title=f"First {name}, second {second}")
    st.caption(
        "Win: the first is right and the second wrong; loss: the other way round. p: McNemar's "
        "exact test. Gold entities count as right where type and both ends are found."
    )
    _sentences(analysis, other, tables["disagreements"])


@st.fragment
@guarded("The sentences of two models")
def _sentences(analysis: Analysed, other: Analysed, table: Table) -> None:
    """The sentences of a kind, each with a link to the explorer under either model."""
    kind = bound_buttons("Sentences", "kind_of", [ANY, *KINDS], ANY)
    publish()
    kept = [index for index, row in enumerate(table) if kind in (ANY, row["kind"])]
    title = f"Sentences: {kind} ({len(kept):,} of {len(table):,})"
    names = [side.results.tagger.name for side in (analysis, other)]
    links: dict[str, list[str | None]] = {}
    for name, side in zip(names, (analysis, other), strict=True):
        every = side.once(f"links {analysis.key} {other.key}", partial(_links, side, table))
        links[name] = [every[index] for index in kept]
    show_table("disagreements", [table[index] for index in kept], links=links, title=title)


def _links(side: Analysed, table: Table) -> list[str | None]:
    """The explorer on each sentence, at its first word that one of the two gets wrong."""
    links = ExplorerLinks(side.results.tagger, dict(enumerate(side.sentences, start=1)))
    return [links.to(int(row["sentence"] or 0), int(row["position"] or 0) - 1) for row in table]
