"""Navigation in a list of errors: next and previous sentence, and back to the list.

A link opens a new session, so the server stores the lists, by the digest of their links. A link has
this digest, the index in the list, and the options of the page Model errors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from crfviz.corpus.table import Table, TableRow
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.session.page_options import flag_option, number_option
from crfviz.ui.session.scenario_state import NO_LETTERS, go_to_link, scenario, view_option
from crfviz.ui.session.session_store import LRUCache, get_value, server_value, set_value
from crfviz.ui.state.scenario import LIST, MAX_WORDS, OF_POSITIONS, PLACE, Scenario
from crfviz.ui.words import plain

PAGE = "pages/model-errors.py"
MAX_LISTS = 100  # maximum number of lists on the server
_BACK = "list.asked_back"  # session key: whether the reader pressed Back


@dataclass(frozen=True)
class Listed:
    """A list of errors: the rows that can be opened, with their URLs."""

    rows: Table
    addresses: Sequence[str]


def opened_from(
    rows: Table, addresses: Sequence[str | None], view: Mapping[str, str]
) -> list[str | None]:
    """Store a list, and return its URLs with the list's digest and the index of the row.

    Args:
        rows: the rows of the list.
        addresses: a URL of the explorer for each row; None for rows that cannot be opened.
        view: further page options, which restore the list when the reader goes back.

    Returns:
        A URL for each row, or None.
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
    """Return the index of the row that the reader opened last, if it is in this list; else None."""
    place = view_option(PLACE)
    end = f"v.{LIST}={view_option(LIST)}&v.{PLACE}={place}"
    return next((row for row, each in enumerate(addresses) if each and each.endswith(end)), None)


def list_bar() -> None:
    """Draw Back, Previous and Next with the position in the list, if a list is open."""
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
            st.caption("The server does not have this list. Go back to compute it again.")
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
    """Draw the listed sentence beside the current one, if they differ, each with its best tags."""
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
    """Open the sentence `by` places after the current one in the list."""
    listed = _lists().get(view_option(LIST))
    if listed is None:
        return
    place = max(0, min(len(listed.rows) - 1, _place(listed) + by))
    query = dict(parse_qsl(urlsplit(listed.addresses[place]).query))
    go_to_link(query, {LIST: view_option(LIST), PLACE: str(place)})


def _place(listed: Listed) -> int:
    return number_option(PLACE, 0, 0, len(listed.rows) - 1)


def _describe(row: TableRow) -> str:
    """Return the text that describes a row: its words, with gold and predicted tags."""
    sides = [f"{side} {row[side]}" for side in ("gold", "predicted") if side in row]
    return ", ".join([str(row["around"]), *sides])


def _options() -> Mapping[str, str]:
    """Return the current page options, without those about words of a sentence."""
    view = scenario().view.items()
    return {name: value for name, value in view if name not in OF_POSITIONS}


def _lists() -> LRUCache[Listed]:
    return server_value("lists", lambda: LRUCache[Listed](MAX_LISTS))
