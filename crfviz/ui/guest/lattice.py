"""The stage as an element of any Streamlit app.

The session stores the state of each element under its key. The element does not use the app's
scenario, URL, style sheet or hooks. `crfviz.ui.session.components` mounts it, as on the pages.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import streamlit as st
import torch

from crfviz.chain.decoding.analysis import Analysis, analyse
from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import items, tag_ids
from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value
from crfviz.ui.guest.records import VIEWS, Shown
from crfviz.ui.session.components import (
    fresh_events,
    mount_stage,
    note_payload,
    sent_events,
)
from crfviz.ui.session.session_store import LRUCache, session_value
from crfviz.ui.state.event_parser import parse_event
from crfviz.ui.state.events import CHOSEN, Command, Event, View
from crfviz.ui.state.link_text import cell_text, read_cell
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    FROM,
    MAX_STEP,
    Changes,
    History,
    Scenario,
    covered,
)
from crfviz.ui.words import plain
from crfviz.views.explanation import explain_edits
from crfviz.views.exports.live import PAGES, Live
from crfviz.views.stage.picture import WINDOW, Matrix, Picture, Subject, most_words
from crfviz.views.strips.pictures import GHOSTS
from crfviz.views.strips.why import WHY_LEGEND, ask_why, why_picture

AT = "at"  # page option: position and tag that the reader clicked
SELECTION = (AT, CHOSEN)
TABLES = ("emissions", "transitions", "start", "end")
MAX_ELEMENTS = 100  # maximum number of elements per session with a stored state


@dataclass(frozen=True, eq=False)
class Request:
    """The unchecked arguments of `st_lattice`."""

    potentials: Any
    view: str
    gold: Any
    at: Any
    editable: bool

    def check(self) -> Potentials:
        """Check potentials and view, and return the potentials.

        Raises:
            CrfvizError: the potentials or the view are invalid.
        """
        if not isinstance(self.potentials, Potentials):
            raise CrfvizError(f"expected Potentials, got {abbreviate_value(self.potentials)}")
        if self.view not in VIEWS:
            expected = ", ".join(VIEWS)
            raise CrfvizError(f"view must be one of {expected}, got {abbreviate_value(self.view)}")
        return self.potentials

    def gold_ids(self) -> list[int] | None:
        """Return the T ids of the gold tags; None without gold tags."""
        if self.gold is None:
            return None
        if isinstance(self.gold, str) or not hasattr(self.gold, "__len__"):
            raise CrfvizError(f"gold must be a list of tags, got {abbreviate_value(self.gold)}")
        chain = self.potentials
        return tag_ids(self.gold, chain.tag_names, chain.num_tokens, "gold")

    def place(self) -> tuple[int, int] | None:
        return None if self.at is None else _place(self.at, self.potentials)


@dataclass
class Element:
    """One stage in one session: its chain, and the effect of the reader's actions."""

    name: str  # key of the component
    key: str | None
    trained: Analysis  # of all words, without edits
    scenario: Scenario
    history: History[Changes] = field(default_factory=History)
    shown: Shown | None = None  # the value that was last put into `st.session_state[key]`
    error: str = ""  # message about the last event
    fixed: bool = False  # whether edits are rejected

    def take_events(self) -> None:
        """Apply new browser events; called in the callback, and at each call, as in forms."""
        for fields in fresh_events(self.name, sent_events(self.name)):
            self.error = ""
            try:
                event = parse_event(fields, self.trained.tags)
            except CrfvizError as error:
                self.error = str(error)
                continue
            note_payload(self.name, event.has)
            if event.is_for(self.scenario.sentence):
                self.apply(event)

    def apply(self, event: Event) -> None:
        """Apply one event; a change of edits can be undone."""
        before, history = self.scenario, self.history
        if isinstance(event, Command):
            if event.name == "reset":
                self.change(before.with_changes(Changes()))
            elif travel := {"undo": history.undone, "redo": history.redone}.get(event.name):
                changes, self.history = travel(before.changes)
                self.scenario = before.with_changes(changes)
            return
        after = event.apply(before)
        if isinstance(event, View) and event.name in SELECTION:
            after = replace(after, view={**after.view, **dict.fromkeys(SELECTION, event.value)})
        self.change(after)

    def change(self, after: Scenario) -> None:
        """Replace the scenario; a change of edits can be undone, and is ignored if `fixed`."""
        if after.changes == self.scenario.changes:
            self.scenario = after
        elif not self.fixed:
            self.history = self.history.pushed(self.scenario.changes)
            self.scenario = after

    def place(self, option: str) -> tuple[int, int] | None:
        """Return the position and tag id of an option "t TAG"; None if it is invalid."""
        cell = read_cell(self.scenario.view.get(option, ""), self.trained.tags)
        return cell if cell and cell[0] < self.trained.potentials.num_tokens else None

    def take_state(self) -> None:
        """Apply a state that the app has put into `st.session_state[key]`."""
        given: object = None if self.key is None else st.session_state.get(self.key)
        if given is None or given is self.shown:
            return
        fields = vars(given) if isinstance(given, Shown) else given
        if not isinstance(fields, Mapping) or not isinstance(fields.get("edits", Edits()), Edits):
            raise CrfvizError(
                f"st.session_state[{self.key!r}] must be a Shown or a dictionary with some of "
                f"edits, selected and step, got {abbreviate_value(given)}"
            )
        after, chain = self.scenario, self.trained.potentials
        if "edits" in fields:
            fields["edits"].apply(chain)  # raises an error for an unknown tag or word
            after = replace(after, edits=fields["edits"])
        if "selected" in fields:
            view = {name: of for name, of in after.view.items() if name not in SELECTION}
            if fields["selected"] is not None:
                position, tag = _place(fields["selected"], chain)
                view |= dict.fromkeys(SELECTION, cell_text(position, chain.tag_names[tag]))
            after = replace(after, view=view)
        if isinstance(step := fields.get("step"), int):
            after = replace(after, step=min(step, MAX_STEP) or BEFORE_FIRST)
        self.change(after)


def show(request: Request, *, height: int | None, key: str | None) -> Shown:
    """Draw a stage, or an error in its place, and return its state; see `st_lattice`."""
    options: dict[str, Any] = {} if height is None else {"height": height, "border": False}
    drawn = [Shown(request.potentials)]
    with st.container(key=key, **options), errors_as_messages():
        drawn.append(_draw(request, request.check(), key))
    return drawn[-1]


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Show a `CrfvizError` of the body as a message instead of raising it."""
    try:
        yield
    except CrfvizError as error:
        st.error(plain(str(error)))


def _draw(request: Request, potentials: Potentials, key: str | None) -> Shown:
    gold, given_place = request.gold_ids(), request.place()
    element = _element(request, potentials, key)
    element.take_events()
    with errors_as_messages():
        element.take_state()
    if element.error:
        st.error(plain(element.error))
    now, edits = element.scenario, element.scenario.edits
    trained, edited = element.trained, element.trained
    num_words, total = trained.potentials.num_tokens, potentials.num_tokens
    if num_words < total:
        st.caption(f"The first {num_words:,} of {total:,} words are drawn.")
    if edits:
        edited = analyse(edits.apply(trained.potentials))
    if num_words > WINDOW:
        asked = now.view.get(FROM, "")
        first = min(int(asked) if asked.isdecimal() else 0, num_words - WINDOW)
        whole, trained = trained, trained.window(first, WINDOW)
        edited = trained if edited is whole else edited.window(first, WINDOW)
    first, length = trained.first, len(trained.words)
    live = Live(potentials, gold=gold and gold[first : first + length])
    place = element.place(AT)
    picture = _picture(request.view, live, edited, trained if edits else None, place or given_place)
    if not request.editable:
        picture = replace(picture, hint="")
    subject = Subject(
        trained,
        edited,
        edits=edits,
        step=now.step,
        nodes=now.view.get("nodes", ""),
        covered=covered(now.view),
        chosen=_within(element.place(CHOSEN), first, length),
        panel=now.view.get("panel", ""),
        folding=now.view.get("folded", ""),
        direction=now.view.get("direction", ""),
    )
    history = element.history
    mount_stage(
        subject,
        picture,
        key=element.name,
        on_events=element.take_events,
        sentence=now.sentence,
        guest={
            "undo": bool(history.past),
            "redo": bool(history.future),
            "reset": bool(edits),
            "fixed": element.fixed,
        },
    )
    selected = None if place is None else (place[0], trained.tags[place[1]])
    step = picture.walk.at(now.step, length)
    shown = Shown(edits.apply(potentials) if edits else potentials, edits, selected, step)
    if key is not None:
        st.session_state[key] = shown
    element.shown = shown
    return shown


def _element(request: Request, potentials: Potentials, key: str | None) -> Element:
    elements = session_value("guests", lambda: LRUCache[Element](MAX_ELEMENTS))
    view = request.view
    most = most_words(potentials.num_tags, homogeneous=potentials.homogeneous)
    chain = potentials.words_in(0, WINDOW if view == "why" else most)
    text = digest(chain.tag_names, chain.tokens or chain.num_tokens)
    if key is None:
        rest = request.gold, request.at, request.editable
        tables = [getattr(chain, name).detach().numpy().tobytes() for name in TABLES]
        name = f"crfviz.{digest(text, view, rest, *tables)}"
    else:
        name = f"crfviz.{key}"
    element = elements.get(name)
    if element is None or element.scenario.sentence != text:
        shown = element.shown if element else None
        element = Element(name, key, analyse(chain), Scenario("", text), shown=shown)
        elements.add(name, element)
    elif not has_same_scores(element.trained.potentials, chain):
        element.trained = analyse(chain)
    element.fixed = not request.editable
    return element


def _place(place: object, chain: Potentials) -> tuple[int, int]:
    """Return the position and tag id of a position and a tag, which may be invalid."""
    if (
        isinstance(place, str)
        or not hasattr(place, "__len__")
        or len(pair := items("at", place)) != 2
    ):
        raise CrfvizError(f"expected a position and a tag, got {abbreviate_value(place)}")
    position, tag = pair
    return chain.position(position), chain.tag_id(tag)


def has_same_scores(first: Potentials, second: Potentials) -> bool:
    pairs = ((getattr(first, name), getattr(second, name)) for name in TABLES)
    return all(torch.equal(one, other) for one, other in pairs)


def digest(*parts: object) -> str:
    """Return a short digest of the `repr` of some values."""
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _picture(
    view: str,
    live: Live,
    now: Analysis,
    before: Analysis | None,
    place: tuple[int, int] | None,
) -> Picture:
    here = _within(place, now.first, len(now.words))
    if view == "why":
        asked = ask_why(now, here)
        picture = why_picture(now, asked, live.gold, before, legend=WHY_LEGEND)
    else:
        picture = PAGES[view].draw(live, now, before)
    if before is not None:
        if view == "explore" and now.viterbi is not None:
            picture = replace(picture, note=f"{explain_edits(before, now)} {picture.note}")
        legend = " · ".join(filter(None, [picture.legend, GHOSTS]))
        picture = replace(picture, legend=legend)
    if picture.side is None or isinstance(picture.side, Matrix):
        picture = replace(picture, asks=AT, asked=here)
    return picture


def _within(place: tuple[int, int] | None, first: int, length: int) -> tuple[int, int] | None:
    """Return a place relative to the first drawn word; None if it is not drawn."""
    if place is None or not 0 <= place[0] - first < length:
        return None
    return place[0] - first, place[1]
