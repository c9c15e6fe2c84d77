"""Let others follow this screen: a code, a link and its picture to point a telephone at."""

from urllib.parse import urlsplit

import segno
import streamlit as st

from crfviz.ui.live_room import broadcast
from crfviz.ui.live_room.rooms import Room
from crfviz.ui.session.kept import refusals_said
from crfviz.views.formatting import count

_ALONE = ("localhost", "127.0.0.1", "::1")
_SIZE = 7  # pixels of a dot of the code: some 230 in all, to be read from the fifth row


def follow_panel() -> None:
    """Everything about those who follow, behind one small button."""
    room = broadcast.current_room()
    label = "Share live" if room is None else f"Room {room.code}"
    with st.popover(label, key="following", type="tertiary"):
        if room is None:
            st.caption("Others follow this screen on their phones, without an account.")
            st.button("Let others follow", on_click=_lead, key="following.lead", type="primary")
        else:
            _room(room)


def _room(room: Room) -> None:
    link = _link(room.code)
    picture, told = st.columns([2, 3], vertical_alignment="center")
    picture.image(segno.make(link, error="m").svg_inline(scale=_SIZE, border=4, light="white"))
    with told:
        st.html(f'<div class="crfviz-code">{room.code}</div>')
        st.code(link, language=None, wrap_lines=True)
        if urlsplit(link).hostname in _ALONE:
            st.caption(
                "Only this machine can open this address: start the server with --server.address"
            )
        st.caption(f"{count(room.count_followers(), 'follower')} when this was drawn.")
        st.button("Close the room", on_click=_leave, key="following.leave")


def _link(code: str) -> str:
    """Where others follow, by the address that this browser reached the server by."""
    address = urlsplit(st.context.url or "http://localhost:8501")
    base = st.get_option("server.baseUrlPath").strip("/")
    path = "/".join(filter(None, [base, "follow", code]))
    return f"{address.scheme}://{address.netloc}/{path}"


def _lead() -> None:
    with refusals_said():
        broadcast.open_room()


def _leave() -> None:
    with refusals_said():
        broadcast.close_room()
