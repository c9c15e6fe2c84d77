"""The list of all documents, and the model that the one which is opened was begun with.

A document keeps the tags of that model. Who opens it gets the model; where it is gone, any other
with the same tags will do.
"""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.store.store import DocumentSummary
from crfviz.ui import cached
from crfviz.ui.annotate.store import OPENED, document_key, go_to_document, shown_name, store
from crfviz.ui.session.current import change, scenario
from crfviz.ui.session.kept import found, keep, say
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import count

MOST_SHOWN = 20
MOST_TAGS = 20  # that are listed
WIDTHS = (3, 1.2, 1.6, 2.2)
SEEN = "document seen"  # key of the one whose model was brought along


def document_list(documents: Sequence[DocumentSummary], who: str) -> None:
    """Draw the newest documents, each with a button that opens it."""
    if not documents:
        st.info("There is no document: add sentences first.")
        return
    st.markdown("**Choose a document**")
    for document in documents[: -MOST_SHOWN - 1 : -1]:
        name, sentences, mine, model = st.columns(WIDTHS, vertical_alignment="center")
        key = document_key(document)
        name.button(
            plain(shown_name(document)),
            key=f"annotate.open.{key}",
            on_click=go_to_document,
            args=(key,),
            type="tertiary",
            icon=":material/description:",
        )
        sentences.write(count(document.sentences, "sentence"))
        progress = store().progress(document.name, who)
        mine.write(f"{progress.done:,} done, {progress.open:,} begun by you")
        model.write(f"begun with {plain(document.model)}" if document.model else "not begun")
    if len(documents) > MOST_SHOWN:
        st.caption(f"The newest {MOST_SHOWN} of {len(documents):,}; the box above has all of them.")


def follow_document(document: DocumentSummary) -> None:
    """Bring the model of a document along when it is opened; then the page is drawn anew.

    A link may name another model with the same tags.

    Raises:
        CrfvizError: the model cannot be loaded.
    """
    key, model = document_key(document), document.model
    chosen = found(OPENED) == key
    if found(SEEN) == key and not chosen:
        return
    keep(SEEN, key)
    keep(OPENED, None)
    if model in ("", scenario().model):
        return
    if model not in cached.models():
        say(f"{quote(document.name)} was begun with {model}, which was deleted; its tags are kept.")
    elif chosen or document.tags is None or not _has_tags(document):
        change(model=model)
        say(f"{quote(document.name)} was begun with {model}, which is now selected.")
        st.rerun()


def may_be_labelled(document: DocumentSummary) -> bool:
    """Whether the chosen model has the tags of a document; where it has not, that is said.

    Raises:
        CrfvizError: the model cannot be loaded.
    """
    if _has_tags(document):
        return True
    model, tags = scenario().model, document.tags or ()
    listed = ", ".join(tags[:MOST_TAGS]) + (", …" if len(tags) > MOST_TAGS else "")
    st.warning(
        plain(
            f"{shown_name(document)} is labelled with the {count(len(tags), 'tag')} of "
            f"{document.model}: {listed}. {model} has others."
        )
    )
    if document.model in cached.models():
        begun = document.model
        st.button(f"Use {plain(begun)}", on_click=lambda: change(model=begun), type="primary")
    else:
        st.info(f"{plain(document.model)} is gone: choose a model with the same tags on the left.")
    return False


def _has_tags(document: DocumentSummary) -> bool:
    if document.tags is None:
        return True
    return set(cached.tagger(scenario().model).tags) == set(document.tags)
