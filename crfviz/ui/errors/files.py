"""Files with gold tags for the page Model errors, and files of predicted tags.

The panel shows how a file is read; nothing is evaluated before the user confirms. The server
caches the eight files used last, by the digest of their content, so that they survive a change of
the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

import streamlit as st

from crfviz.corpus.answer_scores import MODES, AnswerScores, Tags, score_tags
from crfviz.exceptions import FormatError
from crfviz.text.formats import parse_sentences, parse_with_answers, require_same_words
from crfviz.text.readers.rows import ANY, Wanted
from crfviz.text.readers.spelling import AS_WRITTEN
from crfviz.text.sentences import Sentence
from crfviz.ui.reading_panel import chosen_fields, on_page, pickers, show_reading
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.session.scheduling import pause
from crfviz.ui.session.session_store import LRUCache, server_value
from crfviz.ui.widgets import upload
from crfviz.ui.words import plain

MAX_MB = 5
UPLOAD_HELP = (
    "Columns, CoNLL-U, CSV, JSON, JSONL, Parquet, DocBin or brat, at most 5 MB. Larger ones: "
    "`python -m crfviz evaluate FILE --model NAME --report out.html`"
)
ANSWERS_HELP = (
    "The same sentences with the tags of any tagger, in any of these formats: the file is then a "
    "model without scores. A file of columns whose last two are gold and predicted tags, as "
    "conlleval takes them, needs no second one."
)
GOLD_BEFORE_ANSWERS, ANSWERS_LAST = -2, -1  # columns of a file with both
ANSWERS = "answers_read"  # page option of the columns or keys of the second file
MAX_WORDS = 5000  # words of a sentence; a corpus that was not split into sentences has more


@dataclass(frozen=True)
class Source:
    """Tagged sentences with a display name and a digest."""

    name: str
    digest: str
    sentences: Sequence[Sentence]
    notes: tuple[str, ...] = ()  # what was lost or assumed in reading the file
    answers: Sequence[Sentence] | None = None  # the same sentences with the tags of another tagger
    answers_in: str = ""  # name of the file with the answers
    written: Tags = ()  # the gold tags of each sentence as the file spells them
    gold: str = ""  # digest of the file of gold tags alone, if the answers are in another file
    scores: Sequence[AnswerScores] = ()  # of the answers as they are spelled, one for each mode


def _files() -> LRUCache[Source]:
    return server_value("files", LRUCache[Source])


def read_upload(name: str, content: bytes, wanted: Wanted = ANY) -> Source:
    """Read the sentences of a file, and cache them by the digest of its content and `wanted`.

    Raises:
        FormatError: the file cannot be read; the message names the line.
    """
    digest = _digest(content, wanted)
    source = _files().get(digest)
    if source is None:
        notes: list[str] = []
        sentences, answers = parse_with_answers(
            content, name=name, wanted=wanted, pause=pause, told=notes.append
        )
        require_short(name, sentences)
        own = replace(wanted, tags=GOLD_BEFORE_ANSWERS) if answers else wanted
        written = _as_written(name, content, own)
        source = Source(name, digest, sentences, tuple(notes), written=written)
        if answers:
            last = replace(wanted, tags=ANSWERS_LAST)
            scores = _scores(written, _as_written(name, content, last))
            source = replace(source, answers=answers, answers_in=name, scores=scores)
        _files().add(digest, source)
    return source


def with_answers(source: Source, name: str, content: bytes, wanted: Wanted = ANY) -> Source:
    """Return the source with the tags of a second file over the same words, and cache it.

    Raises:
        FormatError: the file cannot be read, or has other words; the message names the sentence.
    """
    gold = source.gold or source.digest
    digest = _digest(gold.encode() + content, wanted)
    both = _files().get(digest)
    if both is None:
        notes: list[str] = []
        answers = parse_sentences(content, name=name, wanted=wanted, pause=pause, told=notes.append)
        require_same_words(source.sentences, answers, name=name)
        both = replace(
            source,
            digest=digest,
            gold=gold,
            notes=tuple(dict.fromkeys([*source.notes, *notes])),
            answers=answers,
            answers_in=name,
            scores=_scores(source.written, _as_written(name, content, wanted)),
        )
        _files().add(digest, both)
    return both


def _digest(content: bytes, wanted: Wanted) -> str:
    return sha256(content + (repr(wanted).encode() if wanted else b"")).hexdigest()[:16]


def _as_written(name: str, content: bytes, wanted: Wanted) -> Tags:
    """Return the tags of each sentence as a file spells them."""
    sentences = parse_sentences(
        content, name=name, wanted=wanted, scheme=AS_WRITTEN, pause=pause, told=lambda _: None
    )
    return [each.tags or () for each in sentences]


def _scores(gold: Tags, answers: Tags) -> list[AnswerScores]:
    return [score_tags(gold, answers, mode) for mode in MODES]


def require_short(name: str, sentences: Sequence[Sentence]) -> None:
    """Reject sentences that are so long that they would block the server.

    Raises:
        FormatError: a sentence has more than 5000 words; the message has a likely cause.
    """
    for number, sentence in enumerate(sentences, start=1):
        if len(sentence.tokens) > MAX_WORDS:
            raise FormatError(
                f"{name}: sentence {number} has {len(sentence.tokens):,} words, at most "
                f"{MAX_WORDS:,} are tagged here. Is the empty line after each sentence missing?"
            )


def require_gold(source: Source) -> None:
    """Raise a FormatError if gold tags are missing."""
    if not source.sentences:
        raise FormatError(f"{source.name} holds no sentence. Choose a file with tagged sentences.")
    for number, sentence in enumerate(source.sentences, start=1):
        if sentence.tags is None:
            raise FormatError(
                f"{source.name}: sentence {number} has no gold tags, so there is nothing to "
                "compare with. CoNLL-U needs tags in column 4, columns in the last one, JSON "
                'in "tags" or as spans in "entities".'
            )


def uploaded_source() -> Source | None:
    """Draw the boxes for files and how they are read; return the source that the user confirms."""
    source = _gold()
    if source is None:
        return None
    row = st.container(horizontal=True)
    use = row.container(width="content")  # beside the popover, which would cover it from above
    with row.popover("Predictions of another tagger"):
        second = upload(
            "A file of predicted tags for the same words",
            help=ANSWERS_HELP,
            max_upload_size=MAX_MB,
            key="errors.answers",
        )
    if second is not None:
        source = _with_answers(source, second.name, second.getvalue())
    if source is None or source.digest == view_option("file"):
        return source
    confirm = partial(set_view_option, "file", source.digest)
    use.button("Use these sentences", type="primary", key="errors.use", on_click=confirm)
    return None


def _gold() -> Source | None:
    """Draw the box for a file with gold tags; return its sentences, None if it is refused."""
    uploaded = upload(
        "A file with gold tags", help=UPLOAD_HELP, max_upload_size=MAX_MB, key="errors.upload"
    )
    source = _files().get(view_option("file"))
    if uploaded is None:
        if source is None:
            st.info(
                "Choose a file with words and gold tags: columns, CSV, JSON, Parquet, DocBin, brat."
            )
        else:
            st.caption(plain(f"The results are from {source.name}; another file takes its place."))
        return source
    name, content = uploaded.name, uploaded.getvalue()
    problem = st.container()  # above the pickers that solve it
    pickers(content)
    try:
        source = read_upload(name, content, chosen_fields(content))
        require_gold(source)
    except FormatError as error:
        problem.error(on_page(str(error)))
        return None
    show_reading(name, source.sentences)
    for note in source.notes if source.digest != view_option("file") else ():
        st.caption(on_page(note))
    return source


def _with_answers(gold: Source, name: str, content: bytes) -> Source | None:
    """Draw how a file of predicted tags is read; return both files, None if it is refused."""
    problem = st.container()
    pickers(content, ANSWERS)
    try:
        source = with_answers(gold, name, content, chosen_fields(content, ANSWERS))
    except FormatError as error:
        problem.error(on_page(str(error)))
        return None
    show_reading(name, source.answers or [])
    return source
