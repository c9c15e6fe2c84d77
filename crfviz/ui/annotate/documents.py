"""The documents of the annotation store: a cache, a list, and the choice of one.

Opening a document selects the model that proposes its tags; any model with the same tags works. A
document with its own tags and without a model is labelled without proposals.
"""

from collections.abc import Sequence

import streamlit as st

from crfviz.annotations.curation import answers, chosen_copies, finished_first
from crfviz.annotations.records import DocumentSummary, Pair
from crfviz.annotations.store.store import Store, open_store
from crfviz.annotations.teaching.teach import finished
from crfviz.taggers.blank import BlankTagger, document_tagger
from crfviz.taggers.tagger import Tagger
from crfviz.taggers.user_models import owner_of
from crfviz.text.sentences import Sentence
from crfviz.ui import cached
from crfviz.ui.session.bound_widgets import Options, bound_select, bound_to
from crfviz.ui.session.page_options import choice_option
from crfviz.ui.session.scenario_state import change, scenario, set_view_option, view_option
from crfviz.ui.session.session_store import get_value, notify, set_value
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import count, listed

EVERYBODY = "all annotators"
SEEN = "document seen"  # session key: document and model of the last automatic selection
MAX_SHOWN = 20
MAX_TAGS = 20  # maximum number of tags listed in a message
WIDTHS = (3, 1.2, 1.6, 2.2)
OPENED = "document opened"  # session key: the document chosen last, until it was drawn


@st.cache_resource(show_spinner="Opening the annotations …", on_release=Store.close)
def store() -> Store:
    """Return the annotation store, opened once per server; a failed call can be repeated."""
    return open_store()


def choose_document(
    documents: Sequence[DocumentSummary], label_visibility: str = "collapsed"
) -> DocumentSummary | None:
    """Draw the select box of documents, and return the chosen one; None without a choice."""
    if not documents:
        return None
    names = {document.key: shown_name(document) for document in documents}
    chosen = chosen_document(documents)
    bound_to(
        st.selectbox,
        "Document",
        "view.doc",
        None if chosen is None else chosen.key,
        go_to_document,
        options=list(names),
        format_func=names.get,
        label_visibility=label_visibility,
        placeholder="Choose a document",
    )
    return chosen


def chosen_document(documents: Sequence[DocumentSummary]) -> DocumentSummary | None:
    """Return the chosen document; None if none is chosen or it was removed."""
    return next((each for each in documents if each.key == view_option("doc")), None)


def choose_annotator(
    document: DocumentSummary, label: str, option: str, **more: Options
) -> str | None:
    """Draw the select box of a document's annotators; return the choice, None for all."""
    bound_select(label, option, _people(document), EVERYBODY, **more)
    return chosen_annotator(document, option)


def chosen_annotator(document: DocumentSummary, option: str) -> str | None:
    """Return the chosen annotator; None for all of them."""
    who = choice_option(option, _people(document), EVERYBODY)
    return None if who == EVERYBODY else who


def answered(pairs: Sequence[Pair]) -> list[Pair]:
    """Return one annotation per sentence, without sentences on which annotators disagree.

    A warning has the number of sentences left out.
    """
    pairs = finished_first(pairs)
    if without := answers(pairs)[1]:
        total = count(len({item.id for item, _ in pairs}), "sentence")
        st.warning(
            f"Annotators disagree about **{without:,} of {total}**, which are left out. "
            "Settle them on the page Annotate, part Agreement, or choose one annotator."
        )
    return chosen_copies(pairs, "agreed")


def labelled_sentences() -> tuple[str, Sequence[Sentence]] | None:
    """Let the reader choose a document and an annotator, for pages that need gold tags.

    Returns a display name and the finished sentences; None, with a message, if there are none.
    """
    documents, people = st.columns(2)
    with documents:
        everything = store().documents()
        document = choose_document(everything)
    if document is None:
        way = "choose a document" if everything else "add sentences on the page Annotate"
        st.info(f"Nothing is chosen: {way}.")
        return None
    who = choose_annotator(document, "By", "teacher", label_visibility="collapsed", at=people)
    pairs = store().annotations(document.name, who, "done")
    sentences = finished(answered(pairs))
    if not sentences and not pairs:
        st.info(f"No sentence of {plain(document.name)} is done yet: Enter accepts one.")
    if not sentences:
        return None
    return f"{document.name}, labelled by {who or EVERYBODY}", sentences


def go_to_document(key: str) -> None:
    """Open a document at its next sentence; an empty key opens the list."""
    set_view_option("item", "")
    set_view_option("doc", key)
    set_value(OPENED, key)


def shown_name(document: DocumentSummary) -> str:
    """Return the display name of a document."""
    return " ".join(document.name.split()) or "(no name)"


def _people(document: DocumentSummary) -> list[str]:
    return [EVERYBODY, *store().annotators(document.name)]


@st.cache_resource(max_entries=16, show_spinner=False)
def item_ids(document: str, key: str) -> Sequence[int]:  # noqa: ARG001 - a part of the key
    """Return the sentence ids of a document in order, cached because they never change."""
    return store().item_ids(document)


def document_list(documents: Sequence[DocumentSummary], who: str) -> None:
    """Draw the newest documents, each with a button that opens it."""
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
        st.caption(f"The newest {MAX_SHOWN} of {len(documents):,}; the menu above lists all.")


def _state(document: DocumentSummary) -> str:
    if document.model:
        return f"model {plain(document.model)}"
    own = len(document.settings.names)
    return f"{count(own, 'tag')} of its own" if own else "not started"


def follow_document(document: DocumentSummary) -> None:
    """Select the model of a document when it is opened or a new model was trained for it.

    The page is then redrawn. Otherwise another model with the same tags stays selected, such as
    that of a link.
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
            f"{quote(document.name)} was begun with {model}, which is not here; its tags are kept."
        )
    elif chosen or document.tags is None or _is_blank(document):
        change(model=model)
        what = "has" if owner_of(model) == key else "was begun with"
        notify(f"{quote(document.name)} {what} the model {model}, which is now selected.")
        st.rerun()


def may_be_labelled(document: DocumentSummary) -> bool:
    """Return whether a document can be labelled; show a message if the model has other tags."""
    model, tags = scenario().model, document.tags or ()
    if not _is_blank(document) or document.model in ("", model):
        return True
    told = (
        f"{shown_name(document)} is labelled with the {count(len(tags), 'tag')} of "
        f"{document.model}: {listed(tags, MAX_TAGS)}."
    )
    if document.model not in cached.models():
        way = "choose a model with the same tags above, or label by hand"
        st.info(plain(f"{told} {document.model} is not available here: {way}."))
        return True
    st.warning(plain(f"{told} {model} uses different tags."))
    begun = document.model
    st.button(f"Use {plain(begun)}", on_click=lambda: change(model=begun), type="primary")
    return False


def is_by_hand(document: DocumentSummary) -> bool:
    """Return whether a document has its own tags and never used a model."""
    return not document.model and document.tags is not None and _is_blank(document)


def tagger_of(document: DocumentSummary) -> Tagger:
    """Return the chosen model if it has the document's tags, else a tagger without scores."""
    model = scenario().model
    if document.tags is None:
        return cached.tagger(model)
    return document_tagger(document.tags, cached.known_tagger(model), own=model == document.model)


def _is_blank(document: DocumentSummary) -> bool:
    return isinstance(tagger_of(document), BlankTagger)
