"""What a new document is called and labelled with: a model's tags, the file's, or one's own."""

import streamlit as st

from crfviz.annotations.files.importing import Import
from crfviz.annotations.settings import Settings, own_tags
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.ui.session.bound import bound_buttons, bound_draft
from crfviz.ui.session.kept import draft
from crfviz.ui.words import plain

TAGS = "annotate.tags"  # a draft
MODEL, FILE, OWN = "model", "file", "own"
WORDS, ENTITIES = "words", "entities"
MARKS = {ENTITIES: "entities of one or more words", WORDS: "a tag for every word"}
FIRST_WORDS = 4  # of a document that has no name


def choose_settings(read: Import, tagger: Tagger) -> Settings | None:
    """Draw the choice of tags for sentences that were read, with all their gold tags.

    Returns:
        Settings, without tags for those of the model; None where no tags are typed yet, or those of
        no use, which is said.
    """
    gold = sorted({tag for item in read.items for tag in item.gold or ()})
    ways = {MODEL: f"the tags of {plain(tagger.name)}", OWN: "my own tags"}
    if gold:
        ways[FILE] = "the tags of the file"
    known = len({*gold} & {*tagger.tags})  # a few others may be slips
    usual = MODEL if 2 * known >= len(gold) else FILE
    way = bound_buttons("Label with", "tagset", ways, usual)
    try:
        if way == OWN:
            return _typed()
        return Settings(own_tags(gold, bio=False) if way == FILE else None)
    except CrfvizError as error:
        st.error(plain(str(error)))
        return None


def settings_of_text(text: str, *, bio: bool) -> Settings:
    """Settings from names with commas between, each with its key behind =, such as `WARE=w, FARBE`.

    Raises:
        CrfvizError: a name or a key is of no use.
    """
    parts = [part.partition("=") for part in text.replace("\n", ",").split(",") if part.strip()]
    tags = own_tags([name for name, _, _ in parts], bio=bio)
    keys = {name.strip(): key.strip().lower() for name, _, key in parts if key.strip()}
    return Settings(tags, keys=keys)


def text_of_settings(settings: Settings) -> str:
    """The same as a text."""
    keys = settings.keys
    return ", ".join(f"{name}={keys[name]}" if name in keys else name for name in settings.names)


def first_words(read: Import) -> str:
    """What a document is called that nobody named: its first words."""
    tokens = read.items[0].tokens if read.items else ()
    return " ".join(tokens[:FIRST_WORDS]) + " …" * (len(tokens) > FIRST_WORDS)


def _typed() -> Settings | None:
    """What is typed; None where nothing is yet."""
    left, right = st.columns([2, 3])
    with left:
        marks = bound_buttons("They mark", "marks", MARKS, ENTITIES)
    bound_draft(
        st.text_input,
        "Tags, with commas between, then press Enter",
        TAGS,
        at=right,
        placeholder="PRODUCT, COLOUR=c, SIZE",
        help="Behind = stands the key of a tag; the others get letters of their own.",
    )
    typed = draft(TAGS)
    return settings_of_text(typed, bio=marks == ENTITIES) if typed.strip() else None
