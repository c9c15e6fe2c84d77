"""Bring your own: upload the files of a model, check what was read, then use it."""

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui.panels.bring import (
    is_fasta,
    own_panel,
    sequence_panel,
    show_understood,
    understood,
    uploaded_files,
    use_button,
)
from crfviz.ui.session.permission import uploads_allowed, uploads_off
from crfviz.ui.shell.frame import header
from crfviz.ui.words import plain

header("Bring your own")
st.caption("A model that is brought is kept by this server: anyone with access can use it.")
if uploads_allowed():
    files = uploaded_files()
    if files:
        try:
            if is_fasta(files):
                sequence_panel(*files[0])
            else:
                brought = understood(files)
                show_understood(brought)
                use_button(brought, files)
        except CrfvizError as error:
            st.error(plain(str(error)))
else:
    st.info(uploads_off("models"))
own_panel()
