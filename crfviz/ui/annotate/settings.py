"""The settings of a document: its name, tokenizer, and tags with their keys and colours.

A new document gets the tags of a model or of its file, or tags that the reader types.
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from crfviz.annotations.files.importing import Import
from crfviz.annotations.records import DocumentSummary, Item
from crfviz.annotations.settings import Settings, own_tags, settings_of_text, text_of_settings
from crfviz.annotations.teaching.propose import last_proposer
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio
from crfviz.text.splitting import ENGLISH, NAMES
from crfviz.ui.annotate.documents import shown_name, store
from crfviz.ui.session.bound_widgets import bound_buttons, bound_draft, bound_select
from crfviz.ui.session.session_store import (
    draft,
    errors_beside,
    last_error_beside,
    notify,
    widget_value,
)
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.words import plain
from crfviz.views.stage.labeller import NONE, choices

COLUMNS, NEW_COLUMNS = 8, 3  # colour pickers per row: in the panel, for a new document
NEW = "new"  # in widget keys: the document that is being added
NAME, RETAGS, RESPLIT = "annotate.rename", "annotate.retag", "annotate.resplit"  # widget keys
TAGS = "annotate.tags"  # draft key
SPLITTING = "splitting"  # a page option
WIDE = 330  # pixels; fits the longest option
MODEL, FILE, OWN = "model", "file", "own"
WORDS, ENTITIES = "words", "entities"
MARKS = {ENTITIES: "entities of one or more words", WORDS: "a tag for every word"}
FIRST_WORDS = 4  # words in the default name of a document


def settings_panel(document: DocumentSummary) -> None:
    """Draw the form for a document's name, tokenizer and tags."""
    key = document.key
    error = last_error_beside(f"{NAME}.{key}")
    name, words, tags = st.columns([2, 2, 4])
    name.text_input("Name of the document", shown_name(document), key=f"{NAME}.{key}")
    settings = document.settings
    used = settings.tokenizer or ENGLISH
    names = {used: NAMES.get(used, used), **NAMES}
    words.selectbox(
        "Words are split as in",
        list(names),
        list(names).index(used),
        format_func=names.__getitem__,
        key=f"{RESPLIT}.{key}",
        help="In a model that learns from this document. Its sentences stay as they are.",
    )
    if settings.tags is None:
        st.info("The first confirmed step gives the document the tags of the model.")
    else:
        tags.text_input(
            "Tags, each with its key behind =",
            text_of_settings(settings),
            key=f"{RETAGS}.{key}",
            help="A tag in use cannot be removed. Without a key it gets one of its letters. "
            'A tag with a comma or = stands in double quotes: ","=k.',
        )
        _draw_colours(settings, key)
    st.button("Save", type="primary", on_click=_save, args=(key,))
    if error:
        st.error(plain(error))


def _draw_colours(settings: Settings, key: str, columns: int = COLUMNS) -> None:
    shown = [each for each in choices(settings.tags or (), settings) if each.name != NONE]
    places = st.columns(columns)
    for number, each in enumerate(shown):
        places[number % columns].color_picker(
            plain(f"{each.name} ({each.key})" if each.key else each.name),
            each.colour,
            key=_colour_key(key, each.name),
        )


def _picked_colours(settings: Settings, key: str) -> dict[str, str]:
    """Return the colours that the reader changed, by tag."""
    drawn = st.session_state.to_dict()  # lacks tags that another tab has added meanwhile
    before = {each.name: each.colour.upper() for each in choices(settings.tags or (), settings)}
    picked = {name: drawn.get(_colour_key(key, name), before[name]).upper() for name in before}
    return {name: colour for name, colour in picked.items() if colour != before[name]}


def _colour_key(key: str, name: str) -> str:
    return f"annotate.colour.{key}.{name}"


def _save(key: str) -> None:
    """Store the whole form, or nothing if a part is invalid."""
    with errors_beside(f"{NAME}.{key}"):
        every = store().documents()
        document = next((each for each in every if each.key == key), None)
        if document is None:
            notify("The document was removed meanwhile; nothing was stored.")
            return
        settings = document.settings  # not those drawn: a job may have trained a model
        if settings.tags is not None:
            settings = _changed(document, settings, key)
        tokenizer = st.session_state.to_dict().get(f"{RESPLIT}.{key}", settings.tokenizer)
        settings = replace(settings, tokenizer="" if tokenizer == ENGLISH else tokenizer)
        name = widget_value(f"{NAME}.{key}").strip()
        renamed = name if name != shown_name(document) else None
        store().change(document.name, settings, renamed)
        notify("Saved.")


def _changed(document: DocumentSummary, settings: Settings, key: str) -> Settings:
    text = st.session_state.to_dict().get(f"{RETAGS}.{key}", text_of_settings(settings))
    typed = settings_of_text(text, bio=is_bio(settings.tags or ()), known=settings.names)
    own = last_proposer(document) is not None or not settings.model
    if not own and {*(typed.tags or ())} != {*(settings.tags or ())}:
        raise CrfvizError(
            f"the tags of {shown_name(document)} are those of {settings.model}: only their keys "
            "and colours can be changed"
        )
    colours = {**settings.colours, **_picked_colours(settings, key)}
    kept = {name: colour for name, colour in colours.items() if name in typed.names}
    return replace(settings, tags=typed.tags, keys=typed.keys, colours=kept)


def choose_settings(items: Sequence[Item], tagger: Tagger, role: str = "") -> Settings | None:
    """Draw the choice of tags for new sentences, if any; they may have tags in a chosen role.

    Finished work keeps the tags of the file unless the model has all of them.

    Returns the settings, whose tags are None for the tags of the model; None while no valid tags
    are typed.
    """
    gold = sorted({tag for item in items for tag in item.gold or ()})
    ways = {MODEL: f"the tags of {plain(tagger.name)}", OWN: "my own tags"}
    if gold:
        ways[FILE] = "the tags of the file"
    known = len({*gold} & {*tagger.tags})  # a few unknown tags may be typos
    enough = known == len(gold) if role in ("", "work") else 2 * known >= len(gold)
    usual = MODEL if enough else FILE
    way = bound_buttons("Label with", "tagset", ways, usual)
    try:
        if way == OWN:
            return _typed()
        return Settings(own_tags(gold, bio=False)) if way == FILE else Settings()
    except CrfvizError as error:
        st.error(plain(str(error)))
        return None


def choose_tokenizer(name: str, at: DeltaGenerator) -> None:
    """Draw the choice of the tokenizer, with the default `name`."""
    names = {name: NAMES.get(name, name), **NAMES}
    bound_select("Words are split as in", SPLITTING, names, name, at=at, width=WIDE)


def first_words(read: Import) -> str:
    """Return the first words of the first sentence, the default name of a document."""
    tokens = read.items[0].tokens if read.items else ()
    return " ".join(tokens[:FIRST_WORDS]) + " …" * (len(tokens) > FIRST_WORDS)


def _typed() -> Settings | None:
    """Draw the form for the reader's own tags; return settings, None while nothing is typed."""
    left, middle, right = st.columns([2.6, 2.5, 0.9], vertical_alignment="bottom")
    with left:
        marks = bound_buttons("They mark", "marks", MARKS, ENTITIES)
    bound_draft(
        st.text_input,
        "Tags, with commas between, then press Enter",
        TAGS,
        at=middle,
        placeholder="PRODUCT, COLOUR=c, SIZE",
        help="Behind = stands the key of a tag; the others get letters of their own.",
    )
    typed = draft(TAGS)
    if not typed.strip():
        return None
    settings = settings_of_text(typed, bio=marks == ENTITIES)
    with right.popover("Colours", width="stretch"):
        _draw_colours(settings, NEW, NEW_COLUMNS)
    return replace(settings, colours=_picked_colours(settings, NEW))
