"""The tagged sentences of the page Model errors, mapped to the tags of the model.

They come with the model or with crfviz, from an upload, or from the annotations. The server caches
the newest eight uploads by the digest of their content, so that leaving the page loses nothing. The
reader maps tags that the model lacks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import streamlit as st

from crfviz.corpus.run.tagging import unknown_tags
from crfviz.exceptions import FormatError
from crfviz.taggers.registry import EXCERPTS, excerpt_for, read_excerpt
from crfviz.taggers.tagger import Tagger
from crfviz.text.files import decoded
from crfviz.text.formats import parse_sentences
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence, fold_handles
from crfviz.ui.annotate.documents import labelled_sentences
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
    "CoNLL-U, CoNLL columns (word TAB tag) or JSONL, UTF-8, at most 5 MB. Larger ones: "
    "`python -m crfviz evaluate FILE --model NAME --report out.html`"
)
FOLD_HELP = (
    "Some corpora of tweets write @ and the name as two words, each with a tag. Models trained "
    "with `--fold-handles` have seen @user instead."
)
NOT_YET = "choose …"
MAX_WORDS = 5000  # of a sentence; corpora that were never split have them


@dataclass(frozen=True)
class Source:
    """Tagged sentences with a name for people and a digest for programs."""

    name: str
    digest: str
    sentences: Sequence[Sentence]


def _files() -> LRUCache[Source]:
    return server_value("files", LRUCache[Source])


def read_upload(name: str, content: bytes) -> Source:
    """Read the sentences of a file, and cache them by the digest of its content.

    Raises:
        FormatError: it cannot be read; says in which line.
    """
    digest = sha256(content).hexdigest()[:16]
    source = _files().get(digest)
    if source is None:
        sentences = parse_sentences(decoded(content, name=name), name=name, pause=pause)
        require_short(name, sentences)
        source = Source(name, digest, sentences)
        _files().add(digest, source)
    return source


def require_short(name: str, sentences: Sequence[Sentence]) -> None:
    """Refuse sentences that would block the server.

    Raises:
        FormatError: says which sentence it is, and what may be missing.
    """
    for number, sentence in enumerate(sentences, start=1):
        if len(sentence.tokens) > MAX_WORDS:
            raise FormatError(
                f"{name}: sentence {number} has {len(sentence.tokens):,} words, at most "
                f"{MAX_WORDS:,} are tagged here. Is the empty line after each sentence missing?"
            )


def excerpt_of(tagger: Tagger) -> Source | None:
    """Return the shipped sentences with the tagger's tags and words, if there are any."""
    path = excerpt_for(tagger.tags)
    if path is None or not tagger.reads(" ".join(read_excerpt(path)[0].tokens)):
        return None
    return Source(EXCERPTS[path], path, read_excerpt(path))


def own_sentences(tagger: Tagger) -> Source | None:
    """Return the gold-tagged sentences that came with a tagger, if there are any."""
    sentences = tagger.tagged()
    if not sentences:
        return None
    return _source(f"the sentences of {tagger.name}", sentences)


def choose_source(tagger: Tagger, at: DeltaGenerator) -> Source | None:
    """Draw the tabs of the sources at `at`; return the chosen one, None if there is none yet.

    Raises:
        FormatError: the file is empty, has no tags, or cannot be read; says in which line.
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
    if uploaded is not None:
        source = read_upload(uploaded.name, uploaded.getvalue())
        require_gold(source)
        if view_option("file") != source.digest:
            set_view_option("file", source.digest)
        return _folded(tagger, source)
    source_before = _files().get(view_option("file"))
    if source_before is None:
        st.info("Choose a file: a word and its tag a line, an empty line after each sentence.")
        return None
    st.caption(plain(f"The results are from {source_before.name}; another file takes its place."))
    return _folded(tagger, source_before)


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
    """Join Twitter handles if the reader wants that.

    The option appears if a word is a bare `@` and the tagger has the tag O.
    """
    handles = any("@" in sentence.tokens[:-1] for sentence in source.sentences)
    if not handles or OUTSIDE not in tagger.tags:
        return source
    label = "Join each @ and the word after it into one @user, tagged O"
    wanted = bound_flag(st.checkbox, label, "fold", help=FOLD_HELP)
    if not wanted:
        return source
    sentences = [fold_handles(sentence) for sentence in source.sentences]
    return Source(f"{source.name}, handles folded", f"{source.digest}.folded", sentences)


def require_gold(source: Source) -> None:
    """Raise a FormatError if gold tags are missing."""
    if not source.sentences:
        raise FormatError(f"{source.name} holds no sentence. Choose a file with tagged sentences.")
    for number, sentence in enumerate(source.sentences, start=1):
        if sentence.tags is None:
            raise FormatError(
                f"{source.name}: sentence {number} has no gold tags, so there is nothing to "
                "compare with. CoNLL-U needs tags in column 4, CoNLL columns in the last column, "
                'JSONL in "tags".'
            )


def renamed(sentences: Sequence[Sentence], names: Mapping[str, str]) -> list[Sentence]:
    """Rename the tags in `names`."""
    return [replace(s, tags=tuple(names.get(tag, tag) for tag in s.tags or ())) for s in sentences]


def mapped_sentences(tagger: Tagger, source: Source) -> Sequence[Sentence] | None:
    """Return the sentences in the tagger's tags; None until the reader has mapped all tags.

    Of BIO tags the types are mapped.
    """
    unknown = unknown_tags(tagger, source.sentences)
    if not unknown:
        return source.sentences
    if len(unknown) > MAX_TAGS:
        st.error(
            plain(
                f"{source.name} has {len(unknown)} tags that {tagger.name} lacks, among them "
                f"{quote(unknown[0])}: it seems to be tagged for something else. Choose another "
                "model on the left or another file."
            )
        )
        return None
    chosen = server_value(f"tags {source.digest} {tagger.name}", dict[str, str])
    words = Counter(tag for sentence in source.sentences for tag in sentence.tags or ())
    mapping = TagMapping(tagger, {tag: words[tag] for tag in unknown}, chosen, NOT_YET)
    st.markdown(f"**Tags that {plain(tagger.name)} does not have**")
    mapping.draw(f"errors.map.{source.digest}")
    if missing := mapping.missing:
        st.info(plain(f"Map {', '.join(map(quote, missing))} to one of the model's tags."))
        return None
    return renamed(source.sentences, mapping.names())
