"""Model errors: from tagged sentences to the one decision that lost."""

import streamlit as st

from crfviz.corpus.tables.report import notes
from crfviz.ui import cached
from crfviz.ui.errors.questions import downloads, questions
from crfviz.ui.errors.runs import analysed, get_ready, link_notes
from crfviz.ui.errors.source import choose_source, mapped_sentences
from crfviz.ui.scene import active_rule
from crfviz.ui.session.scenario_state import scenario
from crfviz.ui.shell.frame import header
from crfviz.ui.words import plain
from crfviz.views.formatting import count, per_cent

_, choice = header("Model errors", 1, 2)
if not cached.models():
    st.info("There is no model. `python -m crfviz train` makes one.")
    st.stop()
tagger = cached.tagger(scenario().model)
source = choose_source(tagger, choice)
sentences = mapped_sentences(tagger, source) if source else None
results = st.empty()  # those of another file, or model, must not stay under a run
kept = active_rule(tagger.tags)
rule = kept.pattern if kept else None
analysis = analysed(tagger, source, sentences, rule) if source and sentences else None
if analysis is None or source is None:
    get_ready(tagger)
    st.stop()
record = analysis.record
wrong, viterbi = record["errors"], record["viterbi"]
with results.container():
    st.markdown(
        f"**{plain(tagger.name)}** on {plain(source.name)}: "
        f"{count(record['sentences'], 'sentence')}, {count(record['tokens'], 'word')}: "
        f"token accuracy **{per_cent(viterbi['token_accuracy'])}**, "
        f"sentence accuracy **{per_cent(viterbi['sentence_accuracy'])}**; "
        f"{count(wrong['total'], 'error')} in {count(wrong['sentences'], 'sentence')}."
    )
    if not tagger.probabilistic:
        st.caption("This model has scores, not probabilities: p is what a CRF with them would say.")
    for note in [*notes(record), *link_notes(analysis)]:
        st.caption(plain(note))
    questions(analysis)
    downloads(analysis)
