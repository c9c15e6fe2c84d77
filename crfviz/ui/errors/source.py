"""The tagged sentences of the page Model errors, mapped to the tags of the model.

They come with the model or with crfviz, from an upload, or from the annotations. The server caches
the eight uploads used last, by the digest of their content, so that they survive a change of the
page. The reader maps tags that the model lacks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import streamlit as st

from crfviz.corpus.answer_scores import MODES, AnswerScores, Tags, score_tags
from crfviz.corpus.run.tagging import unknown_tags
from crfviz.exceptions import FormatError
from crfviz.taggers.answers import Answers
from crfviz.taggers.registry import EXCERPTS, excerpt_for, read_excerpt
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import parse_sentences, parse_with_answers, require_same_words
from crfviz.text.readers.spelling import AS_WRITTEN, in_scheme, scheme_like
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence, fold_handles
from crfviz.ui.annotate.documents import labelled_sentences
from crfviz.ui.errors.error_analysis import ExplorerLinks
from crfviz.ui.session.bound_widgets import bound_flag, bound_tabs
from crfviz.ui.session.permission import annotator, no_annotator_message
from crfviz.ui.session.scenario_state import set_view_option, view_option
from crfviz.ui.session.scheduling import pause
from crfviz.ui.session.session_store import LRUCache, server_value
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.tag_mapping import MAX_TAGS, TagMapping
from crfviz.ui.widgets import upload
from crfviz.ui.words import plain, quote

CHOICES = {
    "own": "sentences of the model",
    "excerpt": "shipped sentences",
    "file": "your file",
    "labelled": "what people labelled",
}
MAX_MB = 5
UPLOAD_HELP = (
    "Columns, CoNLL-U, CSV, JSON, JSONL, Parquet, DocBin or brat, at most 5 MB. Larger ones: "
    "`python -m crfviz evaluate FILE --model NAME --report out.html`"
)
FOLD_HELP = (
    "Some corpora of tweets write @ and the name as two words, each with a tag. Models trained "
    "with `--fold-handles` have seen @user instead."
)
ANSWERS_HELP = (
    "The same sentences with the tags of any tagger, in any of these formats: the file is then a "
    "model without scores. A file of columns whose last two are gold and predicted tags, as "
    "conlleval takes them, needs no second one."
)
GOLD_BEFORE_ANSWERS, ANSWERS_LAST = -2, -1  # columns of a file with both
NOT_YET = "choose …"
MAX_WORDS = 5000  # words of a sentence; a corpus that was not split into sentences has more


@dataclass(frozen=True)
class Subject:
    """What to evaluate: a model, or a file of predictions, on sentences with gold tags."""

    tagger: Tagger
    sentences: Sequence[Sentence]  # in the tagger's tags
    opener: ExplorerLinks | None = None  # creates links to another model


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
    scores: Sequence[AnswerScores] = ()  # of the answers as they are spelled, one for each mode


def _files() -> LRUCache[Source]:
    return server_value("files", LRUCache[Source])


def read_upload(name: str, content: bytes) -> Source:
    """Read the sentences of a file, and cache them by the digest of its content.

    Raises:
        FormatError: the file cannot be read; the message names the line.
    """
    digest = sha256(content).hexdigest()[:16]
    source = _files().get(digest)
    if source is None:
        notes: list[str] = []
        sentences, answers = parse_with_answers(content, name=name, pause=pause, told=notes.append)
        require_short(name, sentences)
        written = _as_written(name, content, GOLD_BEFORE_ANSWERS if answers else None)
        source = Source(name, digest, sentences, tuple(notes), written=written)
        if answers:
            scores = _scores(written, _as_written(name, content, ANSWERS_LAST))
            source = replace(source, answers=answers, answers_in=name, scores=scores)
        _files().add(digest, source)
    return source


def with_answers(source: Source, name: str, content: bytes) -> Source:
    """Return the source with the tags of a second file over the same words, and cache it.

    Raises:
        FormatError: the file cannot be read, or has other words; the message names the sentence.
    """
    digest = sha256(source.digest.encode() + content).hexdigest()[:16]
    both = _files().get(digest)
    if both is None:
        notes: list[str] = []
        answers = parse_sentences(content, name=name, pause=pause, told=notes.append)
        require_same_words(source.sentences, answers, name=name)
        both = replace(
            source,
            digest=digest,
            notes=tuple(dict.fromkeys([*source.notes, *notes])),
            answers=answers,
            answers_in=name,
            scores=_scores(source.written, _as_written(name, content, None)),
        )
        _files().add(digest, both)
    return both


def _as_written(name: str, content: bytes, column: int | None) -> Tags:
    """Return the tags of each sentence as a file spells them."""
    sentences = parse_sentences(
        content, name=name, column=column, scheme=AS_WRITTEN, pause=pause, told=lambda _: None
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


def excerpt_of(tagger: Tagger) -> Source | None:
    """Return the shipped sentences in the tagger's tags, if it has such tags and can read them."""
    path = excerpt_for(tagger.tags)
    if path is None or not tagger.reads(" ".join(read_excerpt(path)[0].tokens)):
        return None
    return Source(EXCERPTS[path], path, read_excerpt(path))


def own_sentences(tagger: Tagger) -> Source | None:
    """Return the gold-tagged sentences that come with a tagger; None without any."""
    sentences = tagger.tagged()
    if not sentences:
        return None
    return _source(f"the sentences of {tagger.name}", sentences)


def choose_source(tagger: Tagger, at: DeltaGenerator) -> Source | None:
    """Draw the tabs of the sources at `at`; return the chosen source, None if none is chosen yet.

    Raises:
        FormatError: the file is empty, has no tags, or cannot be read; the message says where.
    """
    given = {"own": own_sentences(tagger), "excerpt": excerpt_of(tagger)}
    choices = {name: CHOICES[name] for name in CHOICES if given.get(name, name)}
    choice = bound_tabs("Tagged sentences", "corpus", choices, next(iter(choices)), at=at)
    if chosen := given.get(choice):
        return chosen
    if choice == "labelled":
        return _labelled()
    uploaded = upload(
        "A file with gold tags", help=UPLOAD_HELP, max_upload_size=MAX_MB, key="errors.upload"
    )
    source = _files().get(view_option("file"))
    if uploaded is not None:
        source = read_upload(uploaded.name, uploaded.getvalue())
        require_gold(source)
        st.caption(plain(f"{source.name}: {getattr(source.sentences, 'reading', '')}."))
    elif source is None:
        st.info(
            "Choose a file with words and gold tags: columns, CSV, JSON, Parquet, DocBin, brat."
        )
        return None
    else:
        st.caption(plain(f"The results are from {source.name}; another file takes its place."))
    with st.popover("Predictions of another tagger"):
        second = upload(
            "A file of predicted tags for the same words",
            help=ANSWERS_HELP,
            max_upload_size=MAX_MB,
            key="errors.answers",
        )
    if second is not None:
        source = with_answers(source, second.name, second.getvalue())
    if view_option("file") != source.digest:
        set_view_option("file", source.digest)
    return _folded(tagger, source)


def choose_subject(tagger: Tagger, source: Source | None) -> Subject | None:
    """Draw the choice of model or predictions; return None until all tags are mapped."""
    if source is None:
        return None
    if source.answers is not None:
        sides = {"answers": f"predictions in {plain(source.answers_in)}", "model": tagger.name}
        if bound_tabs("Judge", "judged", sides, "answers") == "answers":
            return _answers(tagger, source, source.answers)
    sentences = mapped_sentences(tagger, source)
    return Subject(tagger, sentences) if sentences else None


def _answers(tagger: Tagger, source: Source, answers: Sequence[Sentence]) -> Subject:
    """Return the predictions of a file as the subject; its links open the tagger."""
    if source.notes:
        _say(source.notes)
    scheme = scheme_like([tag for each in source.sentences for tag in each.tags or ()])
    gold, given = (in_scheme(each, scheme) for each in (source.sentences, answers))
    subject = Answers(f"predictions in {source.answers_in}", gold, given)
    shown = [in_scheme(each, scheme_like(tagger.tags)) for each in (gold, given)]
    unknown = unknown_tags(tagger, [*shown[0], *shown[1]])
    names = _mapping(tagger, source, dict.fromkeys(unknown, 0)).names()
    numbered = [dict(enumerate(renamed(each, names))) for each in shown]
    return Subject(subject, gold, ExplorerLinks(tagger, *numbered))


def _labelled() -> Source | None:
    if annotator() is None:
        st.info(no_annotator_message())
        return None
    labelled = labelled_sentences()
    if labelled is None:
        return None
    return _source(*labelled)


def _source(name: str, sentences: Sequence[Sentence]) -> Source:
    digest = sha256(repr([(s.tokens, s.tags) for s in sentences]).encode()).hexdigest()[:16]
    return Source(name, digest, sentences)


def _folded(tagger: Tagger, source: Source) -> Source:
    """Draw the option to join Twitter handles, and return the source with the option applied.

    The option appears only if a word is a bare `@` and the tagger has the tag O.
    """
    handles = any("@" in sentence.tokens[:-1] for sentence in source.sentences)
    if not handles or OUTSIDE not in tagger.tags:
        return source
    label = "Join each @ and the word after it into one @user, tagged O"
    wanted = bound_flag(st.checkbox, label, "fold", help=FOLD_HELP)
    if not wanted:
        return source
    sentences = [fold_handles(sentence) for sentence in source.sentences]
    answers = source.answers and [fold_handles(sentence) for sentence in source.answers]
    name, digest = f"{source.name}, handles folded", f"{source.digest}.folded"
    folded = replace(source, name=name, digest=digest, sentences=sentences, answers=answers)
    return replace(folded, scores=())  # of other words


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


def renamed(sentences: Sequence[Sentence], names: Mapping[str, str]) -> list[Sentence]:
    """Return the sentences with the tags in `names` renamed."""
    return [replace(s, tags=tuple(names.get(tag, tag) for tag in s.tags or ())) for s in sentences]


def mapped_sentences(tagger: Tagger, source: Source) -> Sequence[Sentence] | None:
    """Draw the mapping of unknown tags; return the sentences in the tagger's tags.

    For BIO tags the entity types are mapped. Returns None until all tags are mapped, and for files
    with too many unknown tags.
    """
    if source.notes:
        _say(source.notes)
    sentences = in_scheme(source.sentences, scheme_like(tagger.tags))
    unknown = unknown_tags(tagger, sentences)
    if not unknown:
        return sentences
    if len(unknown) > MAX_TAGS:
        st.error(
            plain(
                f"{source.name} has {len(unknown)} tags that {tagger.name} lacks, among them "
                f"{quote(unknown[0])}: it seems to be tagged for something else. Choose another "
                "model above or another file."
            )
        )
        return None
    words = Counter(tag for sentence in sentences for tag in sentence.tags or ())
    mapping = _mapping(tagger, source, {tag: words[tag] for tag in unknown})
    st.markdown(f"**Tags that {plain(tagger.name)} does not have**")
    mapping.draw(f"errors.map.{source.digest}")
    if missing := mapping.missing:
        st.info(plain(f"Map {', '.join(map(quote, missing))} to one of the model's tags."))
        return None
    return renamed(sentences, mapping.names())


def _mapping(tagger: Tagger, source: Source, words: Mapping[str, int]) -> TagMapping:
    """Return the mapping of unknown tags; `words` has the number of words of each tag."""
    chosen = server_value(f"tags {source.digest} {tagger.name}", dict[str, str])
    return TagMapping(tagger, words, chosen, NOT_YET)


def _say(notes: Sequence[str]) -> None:
    st.warning("\n".join(f"- {plain(note)}" for note in notes))
