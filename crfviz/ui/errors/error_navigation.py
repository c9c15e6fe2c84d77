"""Navigation in a list of errors: next and previous sentence, and back to the list.

A link opens a new session, so the server keeps lists by the digest of their links. A link has the
list, the index in it, and the options of the page Model errors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from crfviz.corpus.table import Table, TableRow
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    flag_option,
    go_to_link,
    number_option,
    scenario,
    view_option,
)
from crfviz.ui.session.session_store import LRUCache, get_value, server_value, set_value
from crfviz.ui.state.scenario import LIST, MAX_WORDS, OF_POSITIONS, PLACE, Scenario
from crfviz.ui.words import plain

PAGE = "pages/model-errors.py"
MAX_LISTS = 100
_BACK = "list.asked_back"  # whether the reader pressed Back


@dataclass(frozen=True)
class Listed:
    """The rows of a list that can be opened, with their URLs."""

    rows: Table
    addresses: Sequence[str]


def opened_from(
    rows: Table, addresses: Sequence[str | None], view: Mapping[str, str]
) -> list[str | None]:
    """Return the URLs with the index in this list; None for rows without a URL.

    Args:
        rows: of the list.
        addresses: of the explorer, for each row.
        view: further page options that the list needs.
    """
    here = [place for place, address in enumerate(addresses) if address]
    known = [address for address in addresses if address]
    name = sha256("\n".join(known).encode()).hexdigest()[:12]
    _lists().add(name, Listed([rows[place] for place in here], known))
    options = {**_options(), **view, LIST: name}
    query = urlencode({f"v.{option}": value for option, value in options.items()})
    places = {row: place for place, row in enumerate(here)}
    return [
        f"{address}&{query}&v.{PLACE}={places[row]}" if address else None
        for row, address in enumerate(addresses)
    ]


def place_in(addresses: Sequence[str | None]) -> int | None:
    """Return the row that the reader returns from, if it is in this list."""
    place = view_option(PLACE)
    end = f"v.{LIST}={view_option(LIST)}&v.{PLACE}={place}"
    return next((row for row, each in enumerate(addresses) if each and each.endswith(end)), None)


def list_bar() -> None:
    """Draw the position in the list and the buttons, if the sentence was opened from a list."""
    name = view_option(LIST)
    if not name:
        return
    listed = _lists().get(name)
    letters = not flag_option(NO_LETTERS)
    with st.container(horizontal=True, vertical_alignment="center", key="listed"):
        st.button(
            "Back to the list",
            on_click=set_value,
            args=(_BACK, True),
            shortcut="B" if letters else None,
            key="list.back",
        )
        if get_value(_BACK):  # the run of the click may have been interrupted
            set_value(_BACK, False)
            st.switch_page(PAGE)
        if listed is None:
            st.caption("The server no longer has this list. Go back to compute it again.")
            return
        place, last = _place(listed), len(listed.rows) - 1
        for label, by, key in (("Previous", -1, "K"), ("Next", 1, "J")):
            st.button(
                label,
                on_click=_go,
                args=(by,),
                shortcut=key if letters else None,
                disabled=not 0 <= place + by <= last,
                key=f"list.{label}",
            )
        st.text(f"{place + 1:,} of {last + 1:,}: {_describe(listed.rows[place])}")
    _show_original(listed.addresses[place])


def _show_original(address: str) -> None:
    """Draw the sentence of the list beside the edited one, each word with its best tag."""
    now = scenario()
    original = dict(parse_qsl(urlsplit(address).query)).get("sentence", now.sentence)
    if original == now.sentence:
        return
    sides = {"Original": original, "Edited": now.sentence}
    with st.container(key="original"):
        for column, (name, sentence) in zip(st.columns(2), sides.items(), strict=True):
            with column:
                text = _tagged(Scenario(now.model, sentence, edits=now.edits))
                st.caption(f"**{name}:** {plain(text)}")
        st.button("Back to the original", on_click=_go, args=(0,), key="list.original")


def _tagged(state: Scenario) -> str:
    """Return the words with their best tags, as “I/PRON run/VERB”; the bare text without a path."""
    try:
        words = cached.words(state.model, state.sentence)[:MAX_WORDS]
        analysis = cached.edited(replace(state, edits=replace(state.edits, emissions={})))
    except CrfvizError:  # the page shows the error
        return state.sentence
    path = analysis.paths["viterbi"]
    if path is None:
        return state.sentence
    return " ".join(f"{word}/{analysis.tags[tag]}" for word, tag in zip(words, path, strict=True))


def _go(by: int) -> None:
    """Open another sentence of the list, relative to the current one."""
    listed = _lists().get(view_option(LIST))
    if listed is None:
        return
    place = max(0, min(len(listed.rows) - 1, _place(listed) + by))
    query = dict(parse_qsl(urlsplit(listed.addresses[place]).query))
    go_to_link(query, {LIST: view_option(LIST), PLACE: str(place)})


def _place(listed: Listed) -> int:
    return number_option(PLACE, 0, 0, len(listed.rows) - 1)


def _describe(row: TableRow) -> str:
    """Return the words of a row with gold and predicted tags."""
    sides = [f"{side} {row[side]}" for side in ("gold", "predicted") if side in row]
    return ", ".join([str(row["around"]), *sides])


def _options() -> Mapping[str, str]:
    """Return the page options that a list needs."""
    view = scenario().view.items()
    return {name: value for name, value in view if name not in OF_POSITIONS}


def _lists() -> LRUCache[Listed]:
    return server_value("lists", lambda: LRUCache[Listed](MAX_LISTS))
