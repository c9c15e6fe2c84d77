"""Panel to add sentences: pasted text or a file, with a preview before anything is stored."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from itertools import islice

import pandas as pd
import streamlit as st

from crfviz.annotations.files.importing import MAX_BYTES, Import
from crfviz.annotations.files.merging import (
    Known,
    conflicts,
    keep,
    known_documents,
    planned,
)
from crfviz.annotations.files.roles import with_role
from crfviz.annotations.records import Document
from crfviz.annotations.settings import Settings
from crfviz.exceptions import FormatError
from crfviz.taggers.registry import EXCERPTS, read_excerpt
from crfviz.text.schemes import OUTSIDE, scheme_of_file
from crfviz.ui import cached
from crfviz.ui.annotate.documents import go_to_document, store
from crfviz.ui.annotate.reading import (
    FORMAT_NAMES,
    ROLE,
    File,
    choose_format,
    choose_role,
    chosen_tokenizer,
    split_lines,
    understood,
    warn_of,
)
from crfviz.ui.annotate.sample import sample
from crfviz.ui.annotate.settings import (
    SPLITTING,
    TAGS,
    choose_settings,
    first_words,
)
from crfviz.ui.reading_panel import chosen_fields, on_page, pickers
from crfviz.ui.session.bound_widgets import bound_buttons, bound_draft
from crfviz.ui.session.permission import annotator, is_login_required, uploads_allowed, uploads_off
from crfviz.ui.session.scenario_state import change, scenario, set_view_option
from crfviz.ui.session.session_store import notify, session_value, set_draft
from crfviz.ui.widgets import upload
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import count

PASTE = "annotate.paste"
PASTE_NAME = "pasted"
TWEETS, TWEETS_NAME = "excerpts/btc-dev.conll", "ten tweets.txt"
TWEETS_MODEL = "ner-en"
MAX_WORDS = 20  # maximum length of an example tweet
SHOWN = 3  # sentences in the preview
JOINED = {
    "merge": "Add the annotations to the stored document",
    "separate": "Store as a separate document",
}


class Added:
    """Digests of the sentences to add and of the last added ones."""

    wanted = ""  # digest of the sentences that the next run stores, after a click
    digest = ""


def add_panel() -> None:
    """Draw the boxes for text and files, a preview, and the button that stores the sentences."""
    added = session_value("added", Added)
    if not uploads_allowed():
        st.info(f"{uploads_off('sentences')} `python -m crfviz annotations import` adds them.")
        return
    if added.wanted == _digest(tweets().encode()):
        _preview(TWEETS_NAME, tweets().encode())
        return
    _offer_tweets(added)
    left, right = st.columns(2)
    pasted = bound_draft(
        st.text_area,
        "Paste sentences, one a line, then press Ctrl+Enter",
        PASTE,
        height=150,
        placeholder="She saw Mr Ford in Paris.\nBook that flight!",
        at=left,
    )
    with right:
        uploaded = upload(
            "or a file: text, columns, CSV, JSON, JSONL, Parquet, spaCy, brat as .zip",
            max_upload_size=MAX_BYTES // 2**20,
            key="annotate.upload",
        )
    if uploaded is not None:
        _preview(uploaded.name, uploaded.getvalue())
    elif pasted.strip():
        _preview(PASTE_NAME, pasted.encode())
    else:
        choose_settings((), cached.tagger(scenario().model))
        sample()


@cache
def tweets() -> str:
    """Return ten tweets that contain entities, one per line, as text without tags."""
    named = (each for each in read_excerpt(TWEETS) if {*(each.tags or ())} - {"O"})
    short = (each for each in named if len(each.tokens) <= MAX_WORDS)
    return "\n".join(" ".join(each.tokens) for each in islice(short, 10))


def _offer_tweets(added: Added) -> None:
    """Draw the button that adds ten tweets and opens them with an entity tagger."""

    def begin() -> None:
        if TWEETS_MODEL in cached.models():
            change(model=TWEETS_MODEL)
        set_view_option("tagset", "")
        added.wanted = _digest(tweets().encode())

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Label ten real tweets", on_click=begin, key="annotate.tweets")
        st.caption(f"of the {EXCERPTS[TWEETS].partition(' of the ')[2]}, or add your own:")


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _preview(name: str, content: bytes) -> None:
    picked, added = chosen_fields(content), session_value("added", Added)
    digest = _digest(content + repr(picked).encode()) if picked else _digest(content)
    wanted = added.wanted == digest
    if not wanted:
        added.wanted = ""
    if digest == added.digest and not wanted:
        st.caption("These sentences are in the store already. Paste or choose others.")
        return
    file = File(name, content, _digest(content), picked, tokenizer=chosen_tokenizer())
    read, settings = _as_read(file)
    if read is None:
        return
    _show(name, read)
    if not read.items:
        return
    if settings is None or _others_said(read):
        return
    role = ""
    if not read.annotations:
        tagged = any(item.gold is not None for item in read.items)
        role, who = choose_role(read, file.digest) if tagged else ("reference", "")
        if role == "work" and settings.tags is None:
            tagger = cached.tagger(scenario().model)
            settings = replace(settings, tags=tuple(tagger.tags), model=tagger.name)
        read = with_role(_named(name, file.digest, read, settings), role, who)
    known = _known_documents(f"{digest} {role}", read)
    new = _merging(known) if known else None
    known = known if new is not None else {}
    good = "good " if read.dropped else ""
    label = f"Add {count(len(read.items), f'{good}sentence')}"
    if known:
        label = f"Add {count(new, 'annotation')}" if new else "Open the stored document"
    want = partial(setattr, added, "wanted", digest)
    st.button(label, type="primary", key="annotate.keep", on_click=want)
    if wanted:
        added.wanted = ""  # reset only now, so that an interrupted run repeats the click
        _keep(name, digest, read, known)


def _as_read(file: File) -> tuple[Import | None, Settings | None]:
    """Draw the choices for the reading of a file; return it and its settings, None if refused."""
    problem, picking, ways = st.container(), st.container(), st.container(horizontal=True)
    content, read, settings = file.content, None, None
    try:
        file = choose_format(file, ways)
        if file.name != TWEETS_NAME:
            file = split_lines(file, ways)
        read, settings = understood(file, ways)
    except FormatError as error:
        problem.error(on_page(str(error)))
    if read is None or (read.format != "text" and not read.annotations):
        with picking:
            pickers(content)
    return read, settings


def _show(name: str, read: Import) -> None:
    """Draw how a file was read, and its first sentences."""
    gold = sum(item.gold is not None for item in read.items)
    used = {tag for item in read.items for tag in item.gold or ()}
    scheme = scheme_of_file(used) if used - {OUTSIDE} else None
    tags = f", {gold:,} with gold tags{f' in {scheme}' if scheme else ''}" if gold else ""
    labelled = f", {count(len(read.annotations), 'annotation')}" if read.annotations else ""
    # lists of spaCy's, Label Studio and others are one format; `reading` names the keys
    format_name = FORMAT_NAMES["json" if read.format == "spacy" else read.format]
    st.markdown(
        f"**{plain(name)}** is read as **{format_name}**: "
        f"{count(len(read.items), 'sentence')}{tags}{labelled}."
    )
    st.caption(plain(f"{read.reading}."))
    if read.read_as:
        st.caption(plain(f"{'; '.join(read.read_as)}."))
    if not read.items:
        st.error(f"{plain(name)} has no sentence to add.")
        return
    shown = read.items[:SHOWN]
    columns = {"words, as they were split": [" · ".join(item.tokens) for item in shown]}
    if gold:
        columns["gold tags"] = [" · ".join(item.gold or ()) for item in shown]
    st.dataframe(pd.DataFrame(columns), hide_index=True, width="stretch")


def _named(name: str, digest: str, read: Import, settings: Settings) -> Import:
    """Draw the box for the document's name; return the sentences as a document of that name."""
    suggested = first_words(read) if name == PASTE_NAME else name
    title = st.text_input("Name", suggested, key=f"annotate.name.{digest}").strip() or suggested
    items = tuple(replace(item, document=title) for item in read.items)
    split = read.documents[0].settings.tokenizer
    settings = replace(settings, tokenizer=split)
    return replace(read, documents=(Document(title, items, settings=settings),))


def _known_documents(digest: str, read: Import) -> Mapping[str, Known]:
    """Return the file's documents that are already stored; cached until the store changes."""
    key = (digest, tuple(store().documents()))
    found = session_value("known documents", dict[object, Mapping[str, Known]])
    if key not in found:
        found.clear()
        found[key] = known_documents(store(), read)
    return found[key]


def _merging(known: Mapping[str, Known]) -> int | None:
    """Ask whether to merge annotations into the stored documents; list the conflicts.

    Returns the number of new annotations; None if the file is stored as separate documents.
    """
    names = ", ".join(plain(each.document) for each in known.values())
    st.info(f"The sentences of **{names}** are in the store already.")
    way = bound_buttons("What to do with them", "joined", JOINED, "merge")
    if way != "merge":
        return None
    plans = planned(store(), known)
    lines = [line for name, plan in plans.items() for line in conflicts(known[name], plan)]
    new = sum(len(plan.new) for plan in plans.values())
    same = sum(plan.same for plan in plans.values())
    if any(each.labelled for each in known.values()):
        st.markdown(
            f"**{count(new, 'annotation')}** to add, {same:,} already stored, {len(lines):,} in "
            "conflict with the stored ones."
        )
    warn_of("**Not added, as they conflict with stored annotations:**", lines, len(lines))
    return new


def _others_said(read: Import) -> bool:
    """Return whether a file has annotations of others than the logged-in user; show an error.

    Always False if no login is required.
    """
    said_by = (each.curation.by if each.curation else each.annotator for each in read.annotations)
    people = set(said_by) if is_login_required() else set()
    if others := sorted(people - {annotator()}):
        said = ", ".join(quote(name) for name in others[:3])
        st.error(
            plain(
                f"The file says that {said} labelled it. Where there is a login, people add what "
                "they labelled themselves; `python -m crfviz annotations import` adds the rest."
            )
        )
    return bool(others)


def forget_added() -> None:
    """Allow adding the last sentences again: their document may have been removed."""
    session_value("added", Added).digest = ""


def _keep(name: str, digest: str, read: Import, known: Mapping[str, Known]) -> None:
    """Store the sentences, with a progress bar, and open the newest document.

    Each document is stored completely or not at all.
    """
    bar = st.progress(0.0, f"Storing {len(read.items):,} sentences …")

    def report(done: int, total: int) -> None:
        bar.progress(done / max(1, total), f"{done:,} of {total:,} stored")

    names = keep(store(), read, report, known)
    bar.empty()
    session_value("added", Added).digest = digest
    document, sentences = quote(names[-1]), count(len(read.items), "sentence")
    if known and not read.annotations:
        notify(f"The {sentences} of {document} are already stored; none is stored twice.")
    else:
        what = count(len(read.annotations), "annotation") if known else sentences
        notify(f"Stored {what} of {document}.")
    if name == PASTE_NAME:
        set_draft(PASTE, "")
    set_draft(TAGS, "")
    set_view_option("tagset", "")
    set_view_option(SPLITTING, "")
    set_view_option(ROLE, "")
    newest = next(d for d in reversed(store().documents()) if d.name == names[-1])
    go_to_document(newest.key)
    set_view_option("part", "label", "label")
    st.rerun()
