"""The tagged sentences of the page Model errors, mapped to the tags of the model.

They come with the model or with crfviz, from an upload (see `files`), or from the annotations. The
reader maps tags that the model lacks.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import streamlit as st

from crfviz.corpus.run.tagging import unknown_tags
from crfviz.taggers.answers import Answers
from crfviz.taggers.registry import EXCERPTS, excerpt_for, read_excerpt
from crfviz.taggers.tagger import Tagger
from crfviz.text.readers.spelling import in_scheme, scheme_like
from crfviz.text.schemes import OUTSIDE
from crfviz.text.sentences import Sentence, fold_handles
from crfviz.ui.annotate.documents import labelled_sentences
from crfviz.ui.errors.error_analysis import ExplorerLinks
from crfviz.ui.errors.files import Source, uploaded_source
from crfviz.ui.reading_panel import on_page
from crfviz.ui.session.bound_widgets import bound_flag, bound_tabs
from crfviz.ui.session.permission import annotator, no_annotator_message
from crfviz.ui.session.session_store import server_value
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.tag_mapping import MAX_TAGS, TagMapping
from crfviz.ui.words import plain, quote

CHOICES = {
    "own": "sentences of the model",
    "excerpt": "shipped sentences",
    "file": "your file",
    "labelled": "what people labelled",
}
FOLD_HELP = (
    "Some corpora of tweets write @ and the name as two words, each with a tag. Models trained "
    "with `--fold-handles` have seen @user instead."
)
NOT_YET = "choose …"


@dataclass(frozen=True)
class Subject:
    """What to evaluate: a model, or a file of predictions, on sentences with gold tags."""

    tagger: Tagger
    sentences: Sequence[Sentence]  # in the tagger's tags
    opener: ExplorerLinks | None = None  # creates links to another model


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
    """Draw the tabs of the sources at `at`; return the chosen source, None without one."""
    given = {"own": own_sentences(tagger), "excerpt": excerpt_of(tagger)}
    choices = {name: CHOICES[name] for name in CHOICES if given.get(name, name)}
    choice = bound_tabs("Tagged sentences", "corpus", choices, next(iter(choices)), at=at)
    if chosen := given.get(choice):
        return chosen
    if choice == "labelled":
        return _labelled()
    source = uploaded_source()
    return source and _folded(tagger, source)


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
    st.warning("\n".join(f"- {on_page(note)}" for note in notes))
