"""Panel that shows how a file of sentences is read, with pickers that change it.

Model errors and Annotate share it; Bring shows models in the same form. The choice is a page
option: the start of the digest of the file, and for words, tags and ends of sentences the number of
a field, or `blank` or `restart`. It holds for that file only.
"""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256

import streamlit as st

from crfviz.text.fields import Fields, fields_in
from crfviz.text.readers.ends import BLANK_LINES, RESTART
from crfviz.text.readers.losses import (
    COLUMN_HELP,
    END_HELP,
    KEY_HELP,
    KEYWORD,
    LIST_HELP,
    worded,
)
from crfviz.text.readers.rows import Wanted
from crfviz.text.sentences import Sentence
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.words import clean, plain

OPTION = "read"  # name of the page option
AS_READ = "as read"
LABELS = ("Words", "Tags", "Sentences end at")
TAGS = LABELS.index("Tags")
ENDS = {BLANK_LINES: "blank lines", RESTART: "restart of a numbering"}
SHOWN = 3  # sentences
MAX_WORDS = 40  # of a sentence that is shown
GUIDE = "[the guide](guides?v.guide=files)"
_DIGITS = 8  # of the digest in the page option
PICKER_WIDTH = 240  # pixels
_PICKERS = dict(zip(("words", "tags", "sentences"), LABELS, strict=True))
_CHOICES = {  # what a question asks for, as the pickers answer it
    COLUMN_HELP: "choose the column of the words, of the tags and of the sentences below",
    KEY_HELP: "choose the key of the words and of the tags below",
    LIST_HELP: "choose the key of the sentences below",
    END_HELP: "sort the rows, or choose below what the sentences end at",
}


def chosen_fields(content: bytes, option: str = OPTION) -> Wanted:
    """Return the columns or keys that the user has picked for a file.

    Args:
        content: the bytes of the file.
        option: name of the page option.
    """
    names = list(_fields(content).values)
    words, tags, ends = (
        names[int(each) - 1] if each.isdecimal() else each or None
        for each in _picked(content, option)
    )
    return Wanted(words, tags, ends)


def pickers(content: bytes, option: str = OPTION) -> None:
    """Draw select boxes for words, tags and ends of sentences, as far as the file has a choice."""
    fields = _fields(content)
    if not fields.values:
        return
    pairs = enumerate(fields.values.items(), start=1)
    names = {str(n): f"{clean(name)}: {value}" for n, (name, value) in pairs}
    picked = _picked(content, option)
    with st.container(horizontal=True):
        for part, label in enumerate(LABELS):
            if fields.tags_alone and part != TAGS:
                continue
            options = {"": AS_READ} | (ENDS if part == len(LABELS) - 1 else {}) | names
            bound_to(
                st.selectbox,
                label,
                f"view.{option}.{part}",
                picked[part],
                partial(_pick, content, option, part),
                options=list(options),
                format_func=options.get,
                width=PICKER_WIDTH,
            )


def on_page(message: str) -> str:
    """Return a message of a reader with pickers for keywords of the library, and a link."""
    return plain(worded(message, _picking)).replace(plain("docs/files.md"), GUIDE)


def _picking(action: str) -> str:
    return KEYWORD.sub(
        lambda each: f"{each[2]} under “{_PICKERS[each[1]]}”" if each[2] else _PICKERS[each[1]],
        _CHOICES.get(action, action),
    )


def show_reading(name: str, sentences: Sequence[Sentence]) -> None:
    """Draw the line about the reading of a file, and its first sentences as word/TAG."""
    st.caption(plain(f"{name}: {getattr(sentences, 'reading', '')}."))
    lines = []
    for number, sentence in enumerate(sentences[:SHOWN], start=1):
        words = [*sentence.tokens]
        if sentence.tags is not None:
            words = [f"{w}/{t}" for w, t in zip(words, sentence.tags, strict=True)]
        more = " …" if len(words) > MAX_WORDS else ""
        lines.append(f"{number}. {plain(' '.join(words[:MAX_WORDS]))}{more}")
    st.markdown("\n".join(lines))


@st.cache_resource(max_entries=8, show_spinner=False)
def _fields(content: bytes) -> Fields:
    return fields_in(content)


def _start(content: bytes) -> str:
    return sha256(content).hexdigest()[:_DIGITS]


def _picked(content: bytes, option: str) -> list[str]:
    """Return the values of the three pickers; empty where the evidence decides."""
    start, *picked = view_option(option).split(".")
    numbers = range(1, len(_fields(content).values) + 1)
    known = {"", *ENDS, *map(str, numbers)}
    is_valid = len(picked) == len(LABELS) and known.issuperset(picked)
    if start != _start(content) or not is_valid or not {*picked[:-1]}.isdisjoint(ENDS):
        return [""] * len(LABELS)
    return picked


def _pick(content: bytes, option: str, part: int, chosen: str | None) -> None:
    picked = _picked(content, option)
    picked[part] = chosen or ""
    set_view_option(option, ".".join([_start(content), *picked]) if any(picked) else "")
