"""The scenario of a session, and its URL.

Pages read `scenario()`. Widgets and the stage change it in callbacks, which run before the page is
drawn. The bar, the page and the URL therefore always show the same state.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import streamlit as st

from crfviz.chain.edits import Edits
from crfviz.exceptions import CrfvizError, warn_once
from crfviz.ui import cached
from crfviz.ui.session.session_store import (
    get_value,
    notify,
    session_value,
    set_snapshots,
    set_value,
    snapshots,
)
from crfviz.ui.state.link import Link, decode, encode, for_words
from crfviz.ui.state.link_reader import Models
from crfviz.ui.state.missing_pages import MISSING, no_such_page
from crfviz.ui.state.scenario import (
    MAX_CHARACTERS,
    Changes,
    History,
    Scenario,
    for_tags,
    with_sentence,
)
from crfviz.ui.state.snapshots import linked_snapshots, with_snapshots, without_snapshots
from crfviz.ui.streamlit_compat import is_history_navigation
from crfviz.ui.words import quote
from crfviz.views.formatting import count

_SCENARIO = "scenario"
_HISTORY = "history"
_MODELS = "models"  # session key: the names of all models at the start of the last full run
_LINK = "link"  # session key: the encoded link, and what it was made of
_LEFT = "left"  # session key: the sentences that `go_to_link` replaced, with times

MAX_LEFT = 20  # maximum number of sentences in `_LEFT`
STALE_TIMEOUT = 10.0  # seconds during which a busy browser may still send the old sentence
NO_LETTERS = "no_letters"  # page option: ignore keys of one letter, digit or sign

_log = logging.getLogger(__name__)


def load_address() -> bool:
    """Load the scenario from the URL in a new session, and after Back or Forward; else False."""
    set_value(_MODELS, cached.models())
    if get_value(_SCENARIO) is None:
        set_value(_SCENARIO, _from_address())
    elif is_history_navigation():
        _go_to(_from_address())
    else:
        return False
    return True


def address() -> Link:
    """Return the link of the scenario; it is encoded once for each state of the session."""
    now, names = scenario(), session_value(_MODELS, cached.models)
    compared = [one for one in snapshots().snapshots if f"snapshot {one.name}" in now.view.values()]
    rest = names, compared, cached.first_sentence(now.model)
    known: tuple[Scenario, object, Link] | None = get_value(_LINK)
    if known is None or known[0] is not now or known[1] != rest:
        known = now, rest, with_snapshots(encode(now, _models(names)), compared)
        set_value(_LINK, known)
    return known[2]


def publish() -> Link:
    """Write the scenario's link to the URL if it differs, and return the link."""
    link = address()
    if st.query_params.to_dict() != link.params:
        st.query_params.from_dict(link.params)
    return link


def scenario() -> Scenario:
    return session_value(_SCENARIO, _from_address)


def change(
    *,
    model: str | None = None,
    sentence: str | None = None,
    edits: Edits | None = None,
    pins: Mapping[int, str] | None = None,
    view: Mapping[str, str] | None = None,
    step: int | None = None,
) -> None:
    """Replace the fields of the scenario that are not None.

    A new sentence drops edits of single words, pins, right tags and the step. A new model drops
    edits of tags that it lacks, with a message. A change of edits or pins can be undone.
    """
    if model is not None:
        _change_model(model)
    if sentence is not None:
        change_sentence(sentence)
    fields = {"edits": edits, "pins": pins, "view": view, "step": step}
    changed: dict[str, Any] = {name: new for name, new in fields.items() if new is not None}
    replace_scenario(replace(scenario(), **changed))


def undo() -> None:
    _travel(history().undone)


def redo() -> None:
    _travel(history().redone)


def history() -> History[Changes]:
    return session_value(_HISTORY, History[Changes])


def reset() -> None:
    """Drop all edits and pins; this can be undone."""
    change(edits=Edits(), pins={})


def load_state(state: Scenario) -> None:
    """Replace the scenario, as a URL would; earlier changes can no longer be undone."""
    set_value(_HISTORY, History())
    set_value(_SCENARIO, _fitted(state))


def view_option(name: str, default: str = "") -> str:
    return scenario().view.get(name, default)


def set_view_option(name: str, value: str, default: str = "") -> None:
    """Set a page option; drop it if it equals `default`, to keep links short."""
    view = {key: old for key, old in scenario().view.items() if key != name}
    change(view=view if value == default else {**view, name: value})


def set_right(right: Mapping[int, str]) -> None:
    """Set the tags that the reader marked as right, by position; this adds no undo step."""
    set_value(_SCENARIO, replace(scenario(), right=dict(right)))


def apply_snapshot(state: Scenario) -> None:
    """Load the model, sentence, edits and pins of a snapshot.

    Page options stay, except those about another sentence.
    """
    now = scenario()
    view = now.view if state.sentence == now.sentence else with_sentence(now, state.sentence).view
    _go_to(_fitted(replace(state, view=view, step=0)))


def go_to_link(query: Mapping[str, str], view: Mapping[str, str]) -> None:
    """Load the state of a link with the page options `view`; keep the other page options."""
    recent = [*(get_value(_LEFT) or ())[-MAX_LEFT:], (scenario().sentence, monotonic())]
    set_value(_LEFT, recent)
    state = decode(query, _models()).scenario
    now = with_sentence(scenario(), state.sentence).view
    _go_to(_fitted(replace(state, view={**now, **state.view, **view}, step=0)))


def _from_address() -> Scenario:
    params, models = st.query_params.to_dict(), _models()
    if missing := params.pop(MISSING, ""):
        notify(no_such_page(missing))
    set_snapshots(snapshots().with_linked(linked_snapshots(params, models)))
    decoded = decode(without_snapshots(params), models)
    for message in decoded.ignored:
        notify(message)
    fitted = _fitted(decoded.scenario)
    of_words = fitted.changes != fitted.changes.without_positions()
    if of_words and cached.known_tagger(fitted.model):
        fitted, messages = for_words(fitted, len(cached.words(fitted.model, fitted.sentence)))
        for message in messages:
            notify(message)
    return fitted


def _models(names: Sequence[str] | None = None) -> Models:
    names = cached.models() if names is None else names
    return Models(names, cached.default_model(names), cached.first_sentence)


def is_left(sentence: str) -> bool:
    """Return whether `go_to_link` replaced a sentence so recently that a browser may send it."""
    expired = monotonic() - STALE_TIMEOUT
    return any(left == sentence and at > expired for left, at in get_value(_LEFT) or ())


def _go_to(after: Scenario) -> None:
    if after.sentence != scenario().sentence:
        set_value(_HISTORY, History())
        set_value(_SCENARIO, after)
    else:
        replace_scenario(after)


def _change_model(model: str) -> None:
    if model not in cached.models():
        notify(f"There is no model called {quote(model)}.")
    elif model != scenario().model:
        sentence = _readable(scenario(), model)
        if sentence != scenario().sentence:
            change_sentence(sentence)
        set_value(_SCENARIO, _fitted(replace(scenario(), model=model)))


def _readable(before: Scenario, model: str) -> str:
    """Return the sentence, or the new model's first example if that cannot read the sentence."""
    try:
        old, new = (cached.tagger(name) for name in (before.model, model))
        of_words = old.observations is None or new.observations is not None
        readable = of_words and new.reads(before.sentence)
    except CrfvizError:  # the page reports a broken model
        return before.sentence
    return before.sentence if readable else cached.first_sentence(model)


def change_sentence(sentence: str) -> None:
    """Replace the sentence; drop edits of single words, pins, right tags and the step."""
    before = scenario()
    after = with_sentence(before, sentence)
    if len(sentence) > MAX_CHARACTERS:
        notify(
            f"The sentence was cut after {MAX_CHARACTERS:,} characters. "
            "Type a shorter one to see all of it."
        )
    if dropped := len(before.edits.emissions) - len(after.edits.emissions):
        notify(f"{count(dropped, 'edit')} of single words were dropped with the old sentence.")
    if after.sentence != before.sentence:
        set_value(_HISTORY, history().mapped(Changes.without_positions, after.changes))
    set_value(_SCENARIO, after)


def _fitted(requested: Scenario) -> Scenario:
    """Return the scenario without edits and pins of tags that its model lacks, with a message.

    The scenario is returned unchanged if the model is broken.
    """
    try:
        tags = cached.tagger(requested.model).tags
    except CrfvizError as error:
        warn_once(_log, f"model {requested.model} cannot be loaded", error)
        return requested
    fitted, unknown = for_tags(requested, tags)
    if unknown:
        names = ", ".join(quote(tag) for tag in unknown[:5])
        notify(f"{requested.model} has no tag {names}: edits of such tags were dropped.")
    set_value(_HISTORY, history().mapped(lambda each: each.for_tags(tags), fitted.changes))
    return fitted


def _travel(go: Callable[[Changes], tuple[Changes, History[Changes]]]) -> None:
    changes, remaining = go(scenario().changes)
    set_value(_HISTORY, remaining)
    set_value(_SCENARIO, scenario().with_changes(changes))


def replace_scenario(after: Scenario) -> None:
    """Set the scenario; a change of edits, pins or right tags can be undone."""
    before = scenario()
    if after.changes != before.changes:
        set_value(_HISTORY, history().pushed(before.changes))
    set_value(_SCENARIO, after)
