"""Bring your own: upload, type or paste a model, check what was read, then use it."""

from pathlib import PurePath

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.panels.bring import (
    FILES,
    TABLES,
    TEXT,
    is_fasta,
    own_panel,
    pasted_files,
    sequence_panel,
    show_understood,
    typed_model,
    understood,
    uploaded_files,
    use_button,
    way_in,
    what_can_be_brought,
)
from crfviz.ui.session.permission import uploads_allowed, uploads_off
from crfviz.ui.shell.frame import header
from crfviz.ui.words import plain

header("Bring your own")
st.caption("A model that is brought is kept by this server: anyone with access can use it.")
if uploads_allowed():
    by = way_in()
    typed = typed_model() if by == TABLES else None
    files = {FILES: uploaded_files, TEXT: pasted_files}[by]() if by != TABLES else []
    explained = by == FILES
    try:
        if is_fasta(files):
            sequence_panel(*files[0])
            explained = False
        elif source := typed or files:
            brought = understood(source)
            show_understood(brought)
            use_button(brought, PurePath(files[0][0]).stem if files else "typed")
            explained = False
    except CrfvizError as error:
        st.error(plain(str(error)))
    if explained:
        what_can_be_brought()
else:
    st.info(uploads_off("models"))
own_panel()
