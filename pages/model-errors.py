"""Model errors: evaluate a model on tagged sentences, down to the score behind each error."""

import streamlit as st

from crfviz.corpus.tables.report import notes
from crfviz.taggers.answers import Answers
from crfviz.ui import cached
from crfviz.ui.errors.added_layer import fit_requested
from crfviz.ui.errors.label_check import check_requested
from crfviz.ui.errors.questions import downloads, questions
from crfviz.ui.errors.runs import analysed, get_ready, link_notes
from crfviz.ui.errors.source import choose_source, choose_subject
from crfviz.ui.scene import active_rule
from crfviz.ui.session.page_end import end_page
from crfviz.ui.session.scenario_state import scenario
from crfviz.ui.shell.frame import header
from crfviz.ui.shell.topbar import MODEL_WIDTH, model_box
from crfviz.ui.words import plain
from crfviz.views.formatting import count, per_cent

MODE_NAMES = {"conlleval": "by conlleval’s rules", "strict": "strictly by the scheme"}

model, choice = header("Model errors", MODEL_WIDTH, "content")
with model:
    model_box()
if not cached.models():
    st.info("There is no model. `python -m crfviz train` makes one.")
    end_page()
tagger = cached.tagger(scenario().model)
source = choose_source(tagger, choice)
subject = choose_subject(tagger, source)
results = st.empty()  # removes the results of another file or model during a run
if subject is None or source is None:
    get_ready(tagger)
    end_page()
kept = active_rule(subject.tagger.tags)
rule = kept.pattern if kept and subject.opener is None else None
analysis = analysed(subject.tagger, source, subject.sentences, rule, subject.opener)
if analysis is None:
    get_ready(tagger)
    end_page()
record = analysis.record
wrong, viterbi = record["errors"], record["viterbi"]
with results.container():
    shares = {"token accuracy": "token_accuracy", "sentence accuracy": "sentence_accuracy"}
    scores = source.scores if isinstance(subject.tagger, Answers) else ()
    if viterbi["entity_f1"] is not None and not scores:
        shares = {"entity F1": "entity_f1", **shares}
    named = ", ".join(f"{name} **{per_cent(viterbi[key])}**" for name, key in shares.items())
    if any(None not in each.scheme for each in scores):
        both = " and ".join(f"**{per_cent(each.f1)}** {MODE_NAMES[each.mode]}" for each in scores)
        named = f"entity F1 {both}, {named}"
    size = [count(record["sentences"], "sentence"), count(record["tokens"], "word")]
    if source.name.startswith(size[0]):  # the shipped sentences, "150 sentences of …"
        size = size[1:]
    st.markdown(
        f"**{plain(subject.tagger.name)}** on {plain(source.name)}: "
        f"{', '.join(size)}: {named}; "
        f"{count(wrong['words'], 'wrong word')} in {count(wrong['total'], 'run')}, in "
        f"{count(wrong['sentences'], 'sentence')}."
    )
    if edits := scenario().edits:
        st.caption(
            f"Your {count(len(edits), 'edit')} of this model's scores do not count here: these are "
            "the figures of the trained model."
        )
    if subject.opener is None and not tagger.probabilistic:
        st.caption("This model has scores, not probabilities: p is what a CRF with them would say.")
    for note in dict.fromkeys(note for each in scores for note in each.notes):
        st.caption(plain(note))
    for note in [*notes(record), *link_notes(analysis)]:
        st.caption(plain(note))
    run = st.empty()  # above long tables, where the bar is seen
    questions(analysis)
    downloads(analysis)
    fit_requested(analysis, run)
    check_requested(analysis, run)
