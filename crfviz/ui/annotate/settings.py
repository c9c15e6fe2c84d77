"""The settings of a document: its name, and the tags with their keys and colours."""

from dataclasses import replace

import streamlit as st

from crfviz.annotations.records import DocumentSummary
from crfviz.annotations.settings import Settings
from crfviz.annotations.teaching.propose import last_proposer
from crfviz.exceptions import CrfvizError
from crfviz.text.schemes import is_bio
from crfviz.ui.annotate.own_tags import settings_of_text, text_of_settings
from crfviz.ui.annotate.store import document_key, shown_name, store
from crfviz.ui.session.kept import choice, refusals_said, say
from crfviz.ui.words import plain
from crfviz.views.stage.labeller import NONE, choices

COLUMNS = 8  # colours beside each other
NAME, TAGS = "annotate.rename", "annotate.retag"  # keys of the boxes


def settings_panel(document: DocumentSummary) -> None:
    """Draw the name of a document and its tags, to be changed."""
    key = document_key(document)
    name, tags = st.columns([1, 2])
    name.text_input("Name of the document", shown_name(document), key=f"{NAME}.{key}")
    settings = document.settings
    if settings.tags is None:
        st.info("The first confirmed step gives the document the tags of the model.")
    else:
        tags.text_input(
            "Tags, each with its key behind =",
            text_of_settings(settings),
            key=f"{TAGS}.{key}",
            help="A tag in use cannot be removed. Without a key it gets one of its letters.",
        )
        _colours(settings, key)
    st.button("Save", type="primary", on_click=_save, args=(document,))


def _colours(settings: Settings, key: str) -> None:
    shown = [each for each in choices(settings.tags or (), settings) if each.name != NONE]
    columns = st.columns(COLUMNS)
    for number, each in enumerate(shown):
        columns[number % COLUMNS].color_picker(
            plain(f"{each.name} ({each.key})" if each.key else each.name),
            each.colour,
            key=_colour_key(key, each.name),
        )


def _colour_key(key: str, name: str) -> str:
    return f"annotate.colour.{key}.{name}"


def _save(document: DocumentSummary) -> None:
    """Store what is typed and chosen; what is refused is said, and changes nothing."""
    key, settings = document_key(document), document.settings
    with refusals_said():
        if settings.tags is not None:
            store().change(document.name, _changed(document, settings, key))
        name = choice(f"{NAME}.{key}").strip()
        if name != shown_name(document):
            store().rename(document.name, name)
        say("Saved.")


def _changed(document: DocumentSummary, settings: Settings, key: str) -> Settings:
    typed = settings_of_text(choice(f"{TAGS}.{key}"), bio=is_bio(settings.tags or ()))
    own = last_proposer(document) is not None or not settings.model
    if not own and {*(typed.tags or ())} != {*(settings.tags or ())}:
        raise CrfvizError(
            f"the tags of {shown_name(document)} are those of {settings.model}: only their keys "
            "and colours can be changed"
        )
    before = {each.name: each.colour for each in choices(settings.tags or (), settings)}
    picked = {
        name: colour.upper()
        for name in typed.names
        if name in before
        and (colour := choice(_colour_key(key, name))).upper() != before[name].upper()
    }
    kept = {name: colour for name, colour in settings.colours.items() if name in typed.names}
    return replace(typed, model=settings.model, colours={**kept, **picked})
