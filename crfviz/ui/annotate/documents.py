"""The list of all documents, and what proposes in the one which is opened.

Who opens a document gets its model; any other with the same tags will do. A document with tags of
its own and no model yet is labelled without proposals.
"""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.records import DocumentSummary
from crfviz.taggers.blank import BlankTagger, document_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import owner_of
from crfviz.ui import cached
from crfviz.ui.annotate.store import OPENED, go_to_document, shown_name, store
from crfviz.ui.session.scenario_state import change, scenario
from crfviz.ui.session.session_store import get_value, notify, set_value
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import count, listed

MAX_SHOWN = 20
MAX_TAGS = 20  # that are listed
WIDTHS = (3, 1.2, 1.6, 2.2)
SEEN = "document seen"  # key of the one whose model was brought along


def document_list(documents: Sequence[DocumentSummary], who: str) -> None:
    """Draw the newest documents, each with a button that opens it."""
    if not documents:
        st.info("There is no document: add sentences first.")
        return
    st.markdown("**Choose a document**")
    for document in documents[: -MAX_SHOWN - 1 : -1]:
        name, sentences, mine, model = st.columns(WIDTHS, vertical_alignment="center")
        key = document.key
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
        model.write(_state(document))
    if len(documents) > MAX_SHOWN:
        st.caption(f"The newest {MAX_SHOWN} of {len(documents):,}; the box above has all of them.")


def _state(document: DocumentSummary) -> str:
    if document.model:
        return f"begun with {plain(document.model)}"
    own = len(document.settings.names)
    return f"{count(own, 'tag')} of its own" if own else "not begun"


def follow_document(document: DocumentSummary) -> None:
    """Bring the model of a document along when it is opened, or has learnt from it meanwhile.

    The page is drawn anew then.

    A link may name another model with the same tags.

    Raises:
        CrfvizError: the model cannot be loaded.
    """
    key, model = document.key, document.model
    chosen = get_value(OPENED) == key
    seen = f"{key} {model}"
    if get_value(SEEN) == seen and not chosen:
        return
    set_value(SEEN, seen)
    set_value(OPENED, None)
    if model in ("", scenario().model):
        return
    if model not in cached.models():
        notify(
            f"{quote(document.name)} was begun with {model}, which was deleted; its tags are kept."
        )
    elif chosen or document.tags is None or _is_blank(document):
        change(model=model)
        what = "has" if owner_of(model) == key else "was begun with"
        notify(f"{quote(document.name)} {what} the model {model}, which is now selected.")
        st.rerun()


def may_be_labelled(document: DocumentSummary) -> bool:
    """Whether a document can be labelled now; where the chosen model lacks its tags, that is said.

    Raises:
        CrfvizError: the model cannot be loaded.
    """
    model, tags = scenario().model, document.tags or ()
    if not _is_blank(document) or document.model in ("", model):
        return True
    told = (
        f"{shown_name(document)} is labelled with the {count(len(tags), 'tag')} of "
        f"{document.model}: {listed(tags, MAX_TAGS)}."
    )
    if document.model not in cached.models():
        way = "choose a model with the same tags on the left, or label by hand"
        st.info(plain(f"{told} {document.model} is gone: {way}."))
        return True
    st.warning(plain(f"{told} {model} has others."))
    begun = document.model
    st.button(f"Use {plain(begun)}", on_click=lambda: change(model=begun), type="primary")
    return False


def tagger_of(document: DocumentSummary) -> Tagger:
    """What proposes in a document: the chosen model if it has the tags, or nothing.

    Raises:
        CrfvizError: the document has no tags, and the model cannot be loaded.
    """
    model = scenario().model
    if document.tags is None:
        return cached.tagger(model)
    return document_tagger(document.tags, cached.known_tagger(model), own=model == document.model)


def _is_blank(document: DocumentSummary) -> bool:
    return isinstance(tagger_of(document), BlankTagger)
