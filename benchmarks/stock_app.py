"""A stock Streamlit app to compare with: navigation, and one small component on each page."""

import streamlit as st

SCRIPT = "export default (at) => { at.parentElement.querySelector('p').dataset.rev = 1; };"
PAGES = {"Explore": "", "Transitions": "transitions", "Viterbi": "viterbi"}  # paths as in crfviz
draw = st.components.v2.component("stock.picture", html="<p>drawn</p>", js=SCRIPT)
pages = [
    st.Page(lambda: draw(), title=title, url_path=path or None, default=not path)
    for title, path in PAGES.items()
]
st.navigation(pages).run()
