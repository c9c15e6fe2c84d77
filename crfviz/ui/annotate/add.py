"""Panel to add sentences: pasted text or a file, with a preview before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from itertools import islice

import pandas as pd
import streamlit as st

from crfviz.annotations.files.importing import MAX_BYTES, Import, read_items
from crfviz.annotations.files.merging import (
    Known,
    conflicts,
    keep,
    known_documents,
    planned,
)
from crfviz.annotations.mixing import TagRules
from crfviz.annotations.records import Document
from crfviz.annotations.settings import Settings
from crfviz.taggers.folder import FolderTagger
from crfviz.taggers.registry import EXCERPTS, read_excerpt
from crfviz.text.files import decoded_with_notes, lines_of
from crfviz.text.readers.spelling import scheme_of_file
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.splitting import ENGLISH
from crfviz.ui import cached
from crfviz.ui.annotate.documents import go_to_document, store
from crfviz.ui.annotate.sample import sample
from crfviz.ui.annotate.settings import (
    SPLITTING,
    TAGS,
    choose_settings,
    choose_tokenizer,
    first_words,
)
from crfviz.ui.session.bound_widgets import bound_buttons, bound_draft
from crfviz.ui.session.permission import annotator, is_login_required, uploads_allowed, uploads_off
from crfviz.ui.session.scenario_state import change, scenario, set_view_option
from crfviz.ui.session.scheduling import pause
from crfviz.ui.session.session_store import notify, session_value, set_draft
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.tag_mapping import MAX_TAGS, TagMapping
from crfviz.ui.widgets import upload
from crfviz.ui.words import plain, quote
from crfviz.views.formatting import count

PASTE = "annotate.paste"
PASTE_NAME = "pasted"
TWEETS, TWEETS_NAME = "excerpts/btc-dev.conll", "ten tweets.txt"
TWEETS_MODEL = "ner-en"
MAX_WORDS = 20  # maximum length of an example tweet
SHOWN = 3  # sentences in the preview
MAX_PROBLEMS = 20
LEFT_OUT = "left out"
JOINED = {
    "merge": "Add the annotations to the stored document",
    "separate": "Store as a separate document",
}
FORMAT_NAMES = {
    "text": "plain text, a sentence a line",
    "conllu": "CoNLL-U",
    "iob2": "iob2 (UNER)",
    "columns": "CoNLL columns",
    "jsonl": "JSONL",
    "spacy": "spaCy's offsets JSON",
    "json": "JSON",
    "table": "a table with a header",
    "inline": "word/TAG",
    "pairs": "a table of words and tags",
    "webanno": "WebAnno TSV",
    "conll2012": "CoNLL-2012",
    "parquet": "Parquet",
    "docbin": "spaCy's DocBin",
    "brat": "brat",
}
READINGS = {  # formats that detection may confuse; the reader can choose
    "text": FORMAT_NAMES["text"],
    "columns": FORMAT_NAMES["columns"],
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
    digest, added = _digest(content), session_value("added", Added)
    wanted = added.wanted == digest
    if not wanted:
        added.wanted = ""
    if digest == added.digest and not wanted:
        st.caption("These sentences are in the store already. Paste or choose others.")
        return
    ways = st.container(horizontal=True)
    file_format = _chosen_format(name, content, digest, ways)
    content = _apart(name, content, digest, file_format, ways)
    read, settings = _understood(name, content, digest, file_format, ways)
    gold = sum(item.gold is not None for item in read.items)
    used = {tag for item in read.items for tag in item.gold or ()}
    scheme = scheme_of_file(used) if used - {OUTSIDE} else None
    tags = f", {gold:,} with gold tags{f' in {scheme}' if scheme else ''}" if gold else ""
    labelled = f", {count(len(read.annotations), 'annotation')}" if read.annotations else ""
    format_name = FORMAT_NAMES[read.format]
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
    if settings is None or _others_said(read):
        return
    if not read.annotations:
        read = _named(name, digest, read, settings)
    known = _known_documents(digest, read)
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


def _chosen_format(name: str, content: bytes, digest: str, at: DeltaGenerator) -> str | None:
    """Let the reader choose the text format; None detects it from the content."""
    found = _read(name, content, None, None).format
    if found not in READINGS:
        return None
    key = f"annotate.format.{digest}"
    at.segmented_control(
        "Read as",
        list(READINGS),
        default=found,
        format_func=READINGS.__getitem__,
        key=key,
        required=True,
    )
    chosen = st.session_state.get(key, found)
    return None if chosen == found else str(chosen)


def _apart(
    name: str, content: bytes, digest: str, file_format: str | None, at: DeltaGenerator
) -> bytes:
    """Let the reader split lines that have several sentences; return the text to import."""
    if name == TWEETS_NAME or (file_format or _read(name, content, None, None).format) != "text":
        return content
    tagger = cached.tagger(scenario().model)
    lines, sentences = _sentences(name, content, getattr(tagger, "tokenizer", ENGLISH))
    if len(sentences) <= lines:
        return content
    options = {
        "sentences": f"{len(sentences):,} sentences, by their marks",
        "lines": f"{count(lines, 'line')}, as they stand",
    }
    key = f"annotate.apart.{digest}"
    at.segmented_control(
        "Sentences",
        list(options),
        default="sentences",
        format_func=options.__getitem__,
        key=key,
        required=True,
    )
    if st.session_state.get(key) == "lines":
        return content
    return "\n".join(sentences).encode()


@st.cache_resource(max_entries=4, show_spinner="Reading …")
def _sentences(name: str, content: bytes, tokenizer: str) -> tuple[int, list[str]]:
    """Return the number of lines that are not blank, and the sentences in them."""
    lines = [line for line in lines_of(decoded_with_notes(content, name)[0]) if line.strip()]
    sentences = list[str]()
    for line in lines:
        sentences += split_sentences(line, tokenizer)
        pause()
    return len(lines), sentences


def _understood(
    name: str, content: bytes, digest: str, file_format: str | None, at: DeltaGenerator
) -> tuple[Import, Settings | None]:
    """Parse a file under the chosen tags, and return the document's settings.

    The settings are None while no tags are chosen.
    """
    tagger = cached.tagger(scenario().model)
    free = _read(name, content, None, file_format)
    tokenizer = ""
    if free.was_split:
        usual = tagger.tokenizer if isinstance(tagger, FolderTagger) else ENGLISH
        tokenizer = choose_tokenizer(usual, at)
        free = _read(name, content, None, file_format, tokenizer=tokenizer)
    asks = free.items and not free.annotations
    settings = choose_settings(free, tagger) if asks else Settings()
    if settings is None or settings.tags:
        own = settings.tags if settings else None
        read = _read(name, content, own, file_format, tokenizer=tokenizer)
        _problems(read)
        return read, settings
    found = _read(name, content, tagger.tags, file_format, tokenizer=tokenizer)
    chosen = session_value(f"tags {digest} {tagger.name}", dict[str, str])
    mapping = TagMapping(tagger, found.unknown, chosen, LEFT_OUT)
    names = tuple(mapping.names().items())
    read = _read(name, content, tagger.tags, file_format, names, tokenizer) if names else found
    _problems(read)
    if 0 < len(found.unknown) <= MAX_TAGS:
        mapping.draw(f"annotate.map.{digest}")
    return read, settings


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
    _warn("**Not added, as they conflict with stored annotations:**", lines, len(lines))
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


# cache_resource, not cache_data: pickling a copy would block all sessions
@st.cache_resource(max_entries=4, show_spinner="Reading …")
def _read(
    name: str,
    content: bytes,
    tags: tuple[str, ...] | None,
    file_format: str | None = None,
    names: tuple[tuple[str, str], ...] = (),
    tokenizer: str = "",
) -> Import:
    rules = TagRules(tags, dict(names))
    return read_items(content, name, file_format, rules=rules, tokenizer=tokenizer, pause=pause)


def _problems(read: Import) -> None:
    lost = f" {count(read.dropped, 'sentence')} cannot be added." if read.dropped else ""
    told = [problem.message for problem in read.problems]
    _warn(f"**Some lines need your attention.**{lost}", told, read.wrong)


def _warn(title: str, lines: Sequence[str], total: int) -> None:
    """Draw a warning with the first lines of a list, and how many of `total` are not shown."""
    shown = [f"- {plain(line)}" for line in lines[:MAX_PROBLEMS]]
    more = [f"- and {total - len(shown):,} more"] if total > len(shown) else []
    if lines:
        st.warning("\n".join([title, "", *shown, *more]))


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
    newest = next(d for d in reversed(store().documents()) if d.name == names[-1])
    go_to_document(newest.key)
    set_view_option("part", "label", "label")
    st.rerun()
