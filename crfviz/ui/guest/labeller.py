"""The labeller of one sentence as an element of any Streamlit app.

The session stores the state of each element under its key. Corrections work as on the page
Annotate, but nothing is stored in a database, and words cannot be split or joined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from crfviz.annotations import labelling
from crfviz.annotations.labelling import Desk
from crfviz.annotations.records import Annotation, Item
from crfviz.chain import validation
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import items, tag_id
from crfviz.exceptions import CrfvizError, ShapeError
from crfviz.taggers.blank import UNSET, BlankTagger, GivenTagger
from crfviz.taggers.tagger import Tagger
from crfviz.text.files import abbreviate_value
from crfviz.text.schemes import is_bio
from crfviz.ui.guest.lattice import MAX_ELEMENTS, digest, errors_as_messages, has_same_scores
from crfviz.ui.guest.records import Labelled
from crfviz.ui.session.components import fresh_events, last_event, mount, sent_events
from crfviz.ui.session.session_store import LRUCache, session_value
from crfviz.views.stage.labeller import MAX_WORDS, LastStep, Sheet, labeller_payload

FIXED = "The words are given here: they cannot be cut or joined."


@dataclass(frozen=True, eq=False)
class Request:
    """The unchecked arguments of `st_labeller`."""

    tokens: Any
    tags: Any
    proposed: Any
    potentials: Any

    def desk(self) -> Desk:
        """Return the sentence with the tagger that proposes its tags.

        Raises:
            CrfvizError: there are no words or tags, or the potentials do not fit them.
        """
        words, tags = _texts(self.tokens, "words"), _texts(self.tags, "tags")
        if len(words) > MAX_WORDS:
            raise ShapeError(f"expected at most {MAX_WORDS:,} words, got {len(words):,}")
        if len(set(tags)) < len(tags) or UNSET in tags:
            raise CrfvizError(f"expected different tags, none of them {UNSET}, got {tags}")
        if self.proposed is not None:
            object.__setattr__(self, "proposed", _tags(self.proposed, tags, len(words)))
        text = " ".join(words)
        starts = [len(" ".join(words[:t])) + (t > 0) for t in range(len(words))]
        offsets = tuple((at, at + len(word)) for at, word in zip(starts, words, strict=True))
        if self.potentials is None:
            return Desk(Item(text, offsets), "", BlankTagger(tags), "")
        chain = self.potentials
        if not isinstance(chain, Potentials):
            raise CrfvizError(f"expected Potentials, got {abbreviate_value(chain)}")
        if set(chain.tag_names) != set(tags) or chain.num_tokens != len(words):
            raise ShapeError(
                f"expected potentials of {len(words)} words and the tags {', '.join(tags)}, got "
                f"{chain.num_tokens} and {', '.join(chain.tag_names)}"
            )
        return Desk(Item(text, offsets), "", GivenTagger(chain), "")


@dataclass
class Element:
    """One labeller in one session: its sentence, and the effect of the reader's actions."""

    name: str  # key of the component
    content: str  # digest of the words and tags
    desk: Desk
    annotation: Annotation
    last: LastStep = field(default_factory=LastStep)
    labelled: Labelled | None = None  # the value that was last put into `st.session_state[key]`

    def take_events(self) -> None:
        """Apply new browser events; called in the callback, and at each call, as in forms."""
        for event in fresh_events(self.name, sent_events(self.name)):
            before = self.annotation
            try:
                after = _changed(self.desk, before, event)
            except CrfvizError as error:
                self.last = LastStep(problem=str(error))
                continue
            except (KeyError, TypeError, ValueError):
                continue  # an invalid event changes nothing
            moved = labelling.followed(before.final, after.final, after.pins) if after.model else []
            self.last = LastStep(changed={t: before.final[t] for t in moved})
            self.annotation = replace(after, revision=before.revision + 1)

    def take_state(self, key: str) -> None:
        """Apply a state that the app has put into `st.session_state[key]`."""
        given: object = st.session_state.get(key)
        if given is None or given is self.labelled:
            return
        fields = vars(given) if isinstance(given, Labelled) else given
        if not isinstance(fields, Mapping):
            raise CrfvizError(
                f"st.session_state[{key!r}] must be a Labelled or a dictionary with some of "
                f"tags and done, got {abbreviate_value(given)}"
            )
        after = self.annotation
        tags = fields.get("tags")
        if tags is not None and len(tags):
            known = self.desk.tagger.tags
            after = _begun(self.desk, _tags(tags, known, len(after.offsets), open_words=True))
        if fields.get("done"):
            after = labelling.accept(after)
        self.annotation = replace(after, revision=self.annotation.revision + 1)

    def take_scores(self, desk: Desk) -> None:
        """Decode again under new scores, with the reader's tags if the scores allow them.

        An accepted sentence stays as it is. If the tags are not allowed, they are dropped with a
        message.
        """
        self.desk = replace(desk, item=self.desk.item)
        before, self.last = self.annotation, LastStep()
        if before.state == "done":
            return
        try:
            after = replace(before, **self.desk.decoded(before.offsets, before.pins))
        except CrfvizError as error:
            after = labelling.begin(self.desk)
            self.last = LastStep(problem=f"The new scores do not allow your tags: {error}")
        self.annotation = replace(after, revision=before.revision + 1)


def show(request: Request, *, key: str | None) -> Labelled:
    """Draw the labeller, or an error in its place, and return its state; see `st_labeller`."""
    labelled = Labelled(())
    with st.container(key=key), errors_as_messages():
        element = _element(request, request.desk(), key)
        element.take_events()
        if key is not None:
            with errors_as_messages():
                element.take_state(key)
        sheet = Sheet(
            element.desk,
            element.annotation,
            element.desk.propose(element.annotation.offsets, element.annotation.pins),
            element.last,
            ack=last_event(element.name),
        )
        data = {**labeller_payload(sheet), "guest": True, "place": ""}
        mount("labeller", data, key=element.name, on_events=element.take_events)
        final = ("" if tag == UNSET else tag for tag in element.annotation.final)
        labelled = Labelled(tuple(final), done=element.annotation.state == "done")
        element.labelled = labelled
        if key is not None:
            st.session_state[key] = labelled
    return labelled


def _element(request: Request, desk: Desk, key: str | None) -> Element:
    elements = session_value("guests.labelling", lambda: LRUCache[Element](MAX_ELEMENTS))
    content = digest(desk.item.text, desk.item.offsets, desk.tagger.tags, request.proposed)
    name = f"crfviz.labeller.{key or content}"
    element = elements.get(name)
    if element is None or element.content != content:
        labelled = element.labelled if element else None
        desk = replace(desk, item=replace(desk.item, id=int(content[:8], 16) or 1))
        begun = _begun(desk, request.proposed)
        element = Element(name, content, desk, begun, labelled=labelled)
        elements.add(name, element)
    elif not _proposes_same(element.desk.tagger, desk.tagger):
        element.take_scores(desk)
    return element


def _proposes_same(first: Tagger, second: Tagger) -> bool:
    if isinstance(first, GivenTagger) and isinstance(second, GivenTagger):
        return has_same_scores(first.chain, second.chain)
    return type(first) is type(second)


def _texts(texts: object, name: str) -> tuple[str, ...]:
    if isinstance(texts, str) or not hasattr(texts, "__len__") or not len(texts):
        raise CrfvizError(f"expected a list of {name}, got {abbreviate_value(texts)}")
    found = validation.words(texts) if name == "words" else validation.names(name, texts)
    if not all(found):
        raise CrfvizError(f"expected a list of {name}, none of them empty, got {list(found)}")
    return found


def _tags(
    tags: object, known: Sequence[str], num_words: int, *, open_words: bool = False
) -> tuple[str, ...]:
    """Return tag names, given by name or id; with `open_words` a tag may be empty."""
    if isinstance(tags, str):
        raise ShapeError(f"expected {num_words} tags, got {abbreviate_value(tags)}")
    given = items("proposed tags", tags)
    if len(given) != num_words:
        raise ShapeError(f"expected {num_words} tags, got {len(given)}")
    return tuple("" if open_words and tag == "" else known[tag_id(tag, known)] for tag in given)


def _begun(desk: Desk, tags: Sequence[str] | None) -> Annotation:
    """Return the first annotation, with words pinned until the best path has all given tags."""
    annotation = labelling.begin(desk)
    given = {t: tag for t, tag in enumerate(tags or ()) if tag}
    pins: dict[int, str] = {}
    while wrong := {t: tag for t, tag in given.items() if annotation.final[t] != tag}:
        pins |= given if is_bio(desk.tagger.tags) else wrong  # for BIO tags, pin whole entities
        annotation = replace(annotation, **desk.decoded(annotation.offsets, pins))
    return annotation


def _changed(desk: Desk, before: Annotation, event: Mapping[object, object]) -> Annotation:
    match event:
        case {"kind": "accept"}:
            return labelling.accept(before)
        case {"kind": "undo"}:
            return labelling.undo(desk, before)
        case {"kind": "cut" | "join"}:
            raise CrfvizError(FIXED)
        case {"kind": "resize", "word": int(word), "start": int(start), "end": int(end)}:
            return labelling.resize(desk, before, word, start, end)
        case {"kind": "correct", "first": int(first), "last": int(last), "what": str(what)}:
            if 0 <= first <= last < len(before.offsets):
                return labelling.correct(desk, before, first, last, what)
    raise ValueError
