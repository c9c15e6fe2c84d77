"""How the page Annotate reads a pasted text or a file, with the choices of the user."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from crfviz.annotations.files.importing import Import, read_items
from crfviz.annotations.files.roles import ROLES, Role
from crfviz.annotations.mixing import TagRules
from crfviz.annotations.settings import Settings
from crfviz.text.files import decoded_with_notes, lines_of
from crfviz.text.readers.rows import ANY, Wanted
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.splitting import ENGLISH, NAMES
from crfviz.ui import cached
from crfviz.ui.annotate.settings import SPLITTING, choose_settings, choose_tokenizer
from crfviz.ui.reading_panel import on_page
from crfviz.ui.session.bound_widgets import bound_buttons
from crfviz.ui.session.page_options import choice_option
from crfviz.ui.session.permission import annotator, is_login_required
from crfviz.ui.session.scenario_state import scenario, view_option
from crfviz.ui.session.scheduling import pause
from crfviz.ui.session.session_store import session_value
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.tag_mapping import MAX_TAGS, TagMapping
from crfviz.views.formatting import count

MAX_PROBLEMS = 20
LEFT_OUT = "left out"
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
ROLE = "tags_are"  # page option
ROLE_NAMES = {
    "work": "finished work",
    "proposals": "proposals to check",
    "reference": "a hidden reference",
}
READINGS = {  # formats that detection may confuse; the reader can choose
    "text": FORMAT_NAMES["text"],
    "columns": FORMAT_NAMES["columns"],
}


@dataclass(frozen=True)
class File:
    """A pasted text or a file, and how the user wants it read."""

    name: str
    content: bytes
    digest: str  # of the content as it came; part of the keys of widgets
    wanted: Wanted = ANY  # the columns or keys that the user has picked
    file_format: str | None = None  # None detects it from the content
    tokenizer: str = ""  # for texts

    def read(
        self, tags: tuple[str, ...] | None = None, names: tuple[tuple[str, str], ...] = ()
    ) -> Import:
        """Return the sentences; cached, and read once if all their tags are allowed.

        Args:
            tags: the allowed tags; None for any.
            names: pairs of a tag and its new name.
        """
        free = _read(self, None, ())
        used = {tag for item in free.items for tag in item.gold or ()}
        # tags of two kinds are dropped only where any tag is allowed
        fits = tags is None or (used <= {*tags} and not free.mixed)
        return free if fits else _read(self, tags, names)


# cache_resource, not cache_data: pickling a copy would block all sessions
@st.cache_resource(max_entries=4, show_spinner="Reading …")
def _read(file: File, tags: tuple[str, ...] | None, names: tuple[tuple[str, str], ...]) -> Import:
    return read_items(
        file.content,
        file.name,
        file.file_format,
        rules=TagRules(tags, dict(names)),
        tokenizer=file.tokenizer,
        wanted=file.wanted,
        pause=pause,
    )


def choose_format(file: File, at: DeltaGenerator) -> File:
    """Let the user choose the format of a text that detection may confuse."""
    found = file.read().format
    if found not in READINGS:
        return file
    key = f"annotate.format.{file.digest}"
    at.segmented_control(
        "Read as",
        list(READINGS),
        default=found,
        format_func=READINGS.__getitem__,
        key=key,
        required=True,
    )
    chosen = st.session_state.get(key, found)
    return file if chosen == found else replace(file, file_format=str(chosen))


def split_lines(file: File, at: DeltaGenerator) -> File:
    """Let the user split lines that have several sentences; return the text to import."""
    if file.read().format != "text":
        return file
    lines, sentences = _sentences(file.name, file.content, _usual_tokenizer())
    if len(sentences) <= lines:
        return file
    options = {
        "sentences": f"{len(sentences):,} sentences, by their marks",
        "lines": f"{count(lines, 'line')}, as they stand",
    }
    key = f"annotate.apart.{file.digest}"
    at.segmented_control(
        "Sentences",
        list(options),
        default="sentences",
        format_func=options.__getitem__,
        key=key,
        required=True,
    )
    if st.session_state.get(key) == "lines":
        return file
    return replace(file, content="\n".join(sentences).encode())


@st.cache_resource(max_entries=4, show_spinner="Reading …")
def _sentences(name: str, content: bytes, tokenizer: str) -> tuple[int, list[str]]:
    """Return the number of lines that are not blank, and the sentences in them."""
    lines = [line for line in lines_of(decoded_with_notes(content, name)[0]) if line.strip()]
    sentences = list[str]()
    for line in lines:
        sentences += split_sentences(line, tokenizer)
        pause()
    return len(lines), sentences


def choose_role(read: Import, digest: str) -> tuple[Role, str]:
    """Draw the question what the tags of a file are; return the role, and whose work it is."""
    left, right = st.columns([3, 2])
    with left:
        chosen = bound_buttons("The tags of the file are", ROLE, ROLE_NAMES, ROLES[0])
    role = next(each for each in ROLES if each == chosen)
    who = annotator() or ""
    if role == "work" and not is_login_required():
        typed = right.text_input("of the annotator", who, key=f"annotate.worker.{digest}")
        who = typed.strip() or who
    untagged = sum(item.gold is None for item in read.items)
    if role == "work" and untagged:
        st.caption(f"{count(untagged, 'sentence')} without tags: still to be labelled.")
    return role, who


def chosen_tokenizer() -> str:
    """Return the tokenizer of texts: the chosen one, or that of the model."""
    usual = _usual_tokenizer()
    return choice_option(SPLITTING, {usual, *NAMES}, usual)


def _usual_tokenizer() -> str:
    return str(getattr(cached.tagger(scenario().model), "tokenizer", ENGLISH))


def understood(file: File, at: DeltaGenerator) -> tuple[Import, Settings | None]:
    """Parse a file under the chosen tags, and return the document's settings.

    The settings are None while no tags are chosen.
    """
    tagger = cached.tagger(scenario().model)
    free = file.read()
    if free.was_split:
        choose_tokenizer(_usual_tokenizer(), at)
    asks = free.items and not free.annotations
    settings = choose_settings(free.items, tagger, view_option(ROLE)) if asks else Settings()
    if settings is None or settings.tags:
        read = file.read(settings.tags if settings else None)
        _problems(read)
        return read, settings
    found = file.read(tagger.tags)
    chosen = session_value(f"tags {file.digest} {tagger.name}", dict[str, str])
    mapping = TagMapping(tagger, found.unknown, chosen, LEFT_OUT)
    names = tuple(mapping.names().items())
    read = file.read(tagger.tags, names) if names else found
    _problems(read)
    if 0 < len(found.unknown) <= MAX_TAGS:
        mapping.draw(f"annotate.map.{file.digest}")
    return read, settings


def _problems(read: Import) -> None:
    lost = f" {count(read.dropped, 'sentence')} cannot be added." if read.dropped else ""
    told = [problem.message for problem in read.problems]
    warn_of(f"**Some lines need your attention.**{lost}", told, read.wrong)


def warn_of(title: str, lines: Sequence[str], total: int) -> None:
    """Draw a warning with the first lines of a list, and how many of `total` are not shown."""
    shown = [f"- {on_page(line)}" for line in lines[:MAX_PROBLEMS]]
    more = [f"- and {total - len(shown):,} more"] if total > len(shown) else []
    if lines:
        st.warning("\n".join([title, "", *shown, *more]))
