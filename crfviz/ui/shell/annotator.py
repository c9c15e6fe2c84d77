"""Who labels: a name typed in the sidebar, or the account where the deployment has a login."""

from __future__ import annotations

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from crfviz.ui.session.bound import bound_text
from crfviz.ui.session.current import view_option
from crfviz.ui.words import plain

NOBODY = "me"  # the annotator who gave no name
LONGEST_NAME = 40  # characters


def annotator() -> str | None:
    """The name under which annotations are stored; None while a login is asked for."""
    if login_configured():
        if not st.user.is_logged_in:
            return None
        return str(st.user.get("email") or st.user.get("name") or st.user.get("sub"))
    return view_option("by").strip() or NOBODY


def annotator_box() -> None:
    """Draw the sidebar's part about the annotator."""
    if not login_configured():
        bound_text(
            "Annotator",
            "by",
            max_chars=LONGEST_NAME,
            placeholder=NOBODY,
            help="Two people need two names. The address holds yours: take `v.by` out of it "
            "before you send it to somebody.",
        )
    elif st.user.is_logged_in:
        st.caption(f"Annotator **{plain(str(annotator()))}**")
        st.button("Log out", on_click=st.logout, type="tertiary")
    else:
        st.button("Log in to label", on_click=st.login, type="primary")


def login_configured() -> bool:
    """Whether this deployment has an identity provider: `[auth]` in its secrets."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False
