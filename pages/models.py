"""Models: the measured figures of all models side by side, and their cards."""

import streamlit as st

from crfviz.ui.panels.cards import cards, comparison
from crfviz.ui.session.bound_widgets import bound_buttons
from crfviz.ui.session.page_end import end_page
from crfviz.ui.session.scenario_state import scenario
from crfviz.ui.shell.frame import header
from crfviz.ui.shell.topbar import MODEL_WIDTH, model_box
from crfviz.ui.words import plain
from crfviz.views.figures.evaluations import (
    DIGITS,
    MEASURES,
    decoder_charts,
    evaluation_frame,
    evaluation_table,
)

BESIDE = 2  # charts per row

(model,) = header("Models", MODEL_WIDTH)
with model:
    model_box()
known = cards()
frame = evaluation_frame({card.model: card.evaluations for card in known})
if frame.empty:
    st.info("No figures yet: `python -m crfviz evaluate FILE --model NAME --card` measures them.")
else:
    measure = bound_buttons(
        "Metric",
        "measure",
        {name: text for name, text in MEASURES.items() if frame[name].notna().any()},
        "token_accuracy",
    )
    charts = list(decoder_charts(frame, measure).items())
    about = f"{MEASURES[measure]} by decoder with 95 % intervals; the table below has the numbers"
    for first in range(0, len(charts), BESIDE):
        for place, (panel, chart) in zip(st.columns(BESIDE), charts[first:], strict=False):
            place.markdown(plain(panel))
            place.container(key=f"wide-share-{panel}").altair_chart(chart, alt=about)
    st.caption("Points: measured on the test file. Lines: 95 % intervals.")
    table = evaluation_table(frame)
    st.dataframe(table.style.format(precision=2), hide_index=True, placeholder="–")
both_ways = comparison()
if both_ways is not None:
    st.subheader("One perceptron, trained and decoded greedily and by Viterbi")
    shown = both_ways.style.format(
        {name: f"{{:.{digits}f}}" for name, digits in DIGITS.items()}, na_rep="–"
    )
    st.dataframe(shown, hide_index=True, placeholder="–")
    st.caption(
        "`times`: training time over that of greedy training. The published rows are of other "
        "data and code."
    )
if not known:
    st.info("There is no model. `python -m crfviz train` makes one.")
    end_page()
labels = [plain(card.model) for card in known]
open_tab = plain(scenario().model) if plain(scenario().model) in labels else None
for card, tab in zip(known, st.tabs(labels, default=open_tab), strict=True):
    with tab:
        if card.problem:
            st.error(plain(card.problem))
        elif not card.text:
            st.info("This model has no card: its folder holds no README.md.")
        elif card.ours:
            st.markdown(card.text)
        else:
            st.text(card.text)
