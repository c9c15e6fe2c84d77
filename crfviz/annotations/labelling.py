"""One annotator's work on one sentence: each function takes an annotation and returns the next.

Nothing is stored here. A returned annotation differs from its argument by one step, and contains
the previous state for undo. Impossible steps raise a CrfvizError.

A correction is a constraint: the best path is decoded again under all tags that the annotator set,
so one correction also changes its neighbours.

Source:
Kristjansson, Culotta, Viola and McCallum, "Interactive Information Extraction with
Constrained Conditional Random Fields" (2004), section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from torch import Tensor

from crfviz.annotations.curation import agreed, disputes, unanswered, with_reading
from crfviz.annotations.hints import Hint, hinted
from crfviz.annotations.marking import ends, join_words, mark_entity, set_tag, split_word
from crfviz.annotations.records import Annotation, Item, Step
from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition, restrict
from crfviz.exceptions import CrfvizError, NoPathError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio, spans
from crfviz.text.sentences import Offsets, words_at

MAX_STEPS = 50  # undo steps
LONGEST_PAUSE = 60.0  # seconds; longer pauses between two steps count as breaks
DOUBT = 0.9  # tags with a smaller marginal are uncertain


@dataclass(frozen=True, eq=False)
class Proposal:
    """The best path under an annotator's tags, with its marginals."""

    tags: tuple[str, ...]  # T names
    marginals: Tensor  # (T, K): p(y_t = k | x, the annotator's tags)
    probabilities: tuple[float, ...]  # T: the marginals of `tags`
    doubtful: tuple[int, ...]  # unpinned positions whose probability is below DOUBT


def propose(potentials: Potentials, pins: Mapping[int, str]) -> Proposal:
    """Decode under the annotator's tags, in O(T K^2).

    Args:
        potentials: the scores of one sentence.
        pins: tags by position; for BIO tags, whole entities, see `marking.mark_entity`.

    Raises:
        NoPathError: no allowed path has these tags; the message names the responsible pin.
        UnknownTagError: the model does not have one of the tags.
    """
    names = potentials.tag_names
    forbidden = ends(pins, potentials.num_tokens) if is_bio(names) else ()
    chain = restrict(potentials, pins, forbidden) if pins else potentials
    try:
        path = best_path(chain)
    except NoPathError:
        condition(potentials, pins, forbidden)  # raises an error that names the responsible tag
        raise
    marginals = forward_backward(chain).marginals
    sure = [float(marginals[t, k]) for t, k in enumerate(path)]
    doubtful = tuple(t for t, p in enumerate(sure) if p < DOUBT and t not in pins)
    return Proposal(tuple(names[k] for k in path), marginals, tuple(sure), doubtful)


@lru_cache(maxsize=512)
def proposal_of(
    tagger: Tagger, words: tuple[str, ...], pins: tuple[tuple[int, str], ...]
) -> Proposal:
    """Return the proposal of a model for words; cached, because a step and its picture need it."""
    return propose(_scores(tagger, words), dict(pins))


def followed(before: Sequence[str], after: Sequence[str], pins: Mapping[int, str]) -> list[int]:
    """Return the unpinned positions whose tags a correction changed."""
    pairs = enumerate(zip(before, after, strict=True))
    return [t for t, (old, new) in pairs if old != new and t not in pins]


@lru_cache(maxsize=256)
def _scores(tagger: Tagger, words: tuple[str, ...]) -> Potentials:
    return tagger.potentials(words)


@dataclass(frozen=True)
class Desk:
    """A sentence with the annotator and the model that proposes."""

    item: Item
    annotator: str
    tagger: Tagger
    version: str  # digest of the model
    curator: str = ""  # curator who settles others' versions
    versions: tuple[Annotation, ...] = ()  # versions to settle
    hints: tuple[Hint, ...] = ()  # proposals from elsewhere than the model

    def propose(self, offsets: Offsets, pins: Mapping[int, str]) -> Proposal:
        """Return the best path of these words under these tags, and under the hints if possible.

        The marginals are the model's, without the hints.
        """
        words = words_at(self.item.text, offsets)
        alone = proposal_of(self.tagger, words, tuple(sorted(pins.items())))
        tags = self.tagger.tags
        extra = {t: tag for t, (tag, _) in hinted(offsets, pins, self.hints, tags).items()}
        if all(alone.tags[t] == tag for t, tag in extra.items()):
            return alone
        try:
            under = proposal_of(self.tagger, words, tuple(sorted({**pins, **extra}.items())))
        except NoPathError:
            return alone
        path = enumerate(tags.index(tag) for tag in under.tags)
        sure = tuple(float(alone.marginals[t, k]) for t, k in path)
        return replace(under, marginals=alone.marginals, probabilities=sure)

    def reasons(self, annotation: Annotation) -> dict[int, str]:
        """Return why a hint proposes the tag of a word, by position; only where it is followed."""
        found = hinted(annotation.offsets, annotation.pins, self.hints, self.tagger.tags)
        return {
            t: why
            for t, (tag, why) in found.items()
            if why and annotation.state == "open" and annotation.final[t] == tag
        }

    def decoded(self, offsets: Offsets, pins: Mapping[int, str]) -> dict[str, Any]:
        """Return the fields of an annotation with these words and pins, decoded."""
        return {
            "offsets": offsets,
            "proposed": self.propose(offsets, {}).tags,
            "final": self.propose(offsets, pins).tags,
            "pins": dict(pins),
            "model": self.tagger.name,
            "model_version": self.version,
        }

    @property
    def bio(self) -> bool:
        return is_bio(self.tagger.tags)


def begin(desk: Desk) -> Annotation:
    """Return the first annotation of a sentence: the model's proposal.

    At curation, the tags on which all versions agree are set.
    """
    offsets, pins = agreed(desk.versions) if desk.versions else (desk.item.offsets, {})
    return Annotation(desk.item.id, desk.annotator, **desk.decoded(offsets, pins))


def correct(desk: Desk, annotation: Annotation, first: int, last: int, what: str) -> Annotation:
    """Set a tag, or for a BIO model mark an entity, on the words first to last, and decode again.

    `what` is a tag; for a BIO model an entity type, empty for none.

    Raises:
        NoPathError: no allowed path has this tag together with the others.
        UnknownTagError: the model does not have the tag.
    """
    before = _reopened(desk, annotation)
    mark = mark_entity if desk.bio else set_tag
    return _with(desk, before, before.offsets, mark(before.pins, first, last, what))


def resize(desk: Desk, annotation: Annotation, word: int, start: int, end: int) -> Annotation:
    """Move the start and the end of the entity at a word by so many words, and decode again.

    Words that leave the entity become O. An entity that the new one overlaps is given up, as in
    `marking.mark_entity`.

    Raises:
        CrfvizError: there is no entity at the word, or the new one would have no word or leave the
            sentence.
        NoPathError: no allowed path has these tags.
    """
    before = _reopened(desk, annotation)
    here = next((each for each in spans(before.final) if each.start <= word < each.end), None)
    if here is None:
        raise CrfvizError("There is no entity at this word to grow or shrink.")
    first, last = here.start + start, here.end - 1 + end
    if not 0 <= first <= last < len(before.offsets):
        raise CrfvizError("The entity cannot grow or shrink further in this direction.")
    pins = mark_entity(before.pins, min(first, here.start), max(last, here.end - 1), "")
    return _with(desk, before, before.offsets, mark_entity(pins, first, last, here.type))


def cut(desk: Desk, annotation: Annotation, word: int, at: int) -> Annotation:
    before = _reopened(desk, annotation)
    return _with(desk, before, *split_word(desk.item.text, before.offsets, before.pins, word, at))


def join(desk: Desk, annotation: Annotation, word: int) -> Annotation:
    before = _reopened(desk, annotation)
    return _with(desk, before, *join_words(before.offsets, before.pins, word))


def take(desk: Desk, annotation: Annotation, version: int, word: int) -> Annotation:
    """Apply a version's reading of the dispute at a word, or with word -1 of the whole sentence."""
    before, start, end = _reopened(desk, annotation), 0, len(desk.item.text)
    if not 0 <= version < len(desk.versions):
        raise CrfvizError(f"expected one of {len(desk.versions)} versions, got {version + 1}")
    if word >= 0:
        places = before.offsets[word : word + 1]
        found = (each for each in disputes(desk.versions) if any(map(each.covers, places)))
        at = next(found, None)
        if at is None:
            raise CrfvizError("All versions have the same tag here. Tab goes to the next dispute.")
        start, end = at.start, at.end
    chosen = desk.versions[version]
    return _with(desk, before, *with_reading(before, chosen, start, end))


def renewed(desk: Desk, annotation: Annotation) -> Annotation:
    """Decode an open annotation again if it is by another model or version, or has hints."""
    same = (annotation.model, annotation.model_version) == (desk.tagger.name, desk.version)
    if (same and not desk.hints) or annotation.state == "done":
        return annotation
    return replace(annotation, **desk.decoded(annotation.offsets, annotation.pins))


def undo(desk: Desk, annotation: Annotation) -> Annotation:
    """Undo one step; a finished sentence is only reopened."""
    if annotation.state == "done" or not annotation.past:
        return replace(annotation, state="open")
    *past, step = annotation.past
    return replace(annotation, past=tuple(past), **desk.decoded(step.offsets, step.pins))


def accept(annotation: Annotation, versions: Sequence[Annotation] = ()) -> Annotation:
    """Mark the sentence as done; raise an error if a word has no tag or a dispute is open."""
    if left := len(unanswered(annotation, versions)) if versions else 0:
        places = "1 dispute is" if left == 1 else f"{left} disputes are"
        raise CrfvizError(f"{places} not settled yet. Enter goes to the next one.")
    if unset := annotation.final.count(UNSET):
        words = "1 word has" if unset == 1 else f"{unset} words have"
        raise CrfvizError(f"{words} no tag yet. Enter goes to the next one.")
    return replace(annotation, state="done")


def worked(annotation: Annotation, seconds: float) -> Annotation:
    """Add the time since the previous step, without breaks."""
    return replace(annotation, seconds=annotation.seconds + min(max(0.0, seconds), LONGEST_PAUSE))


def _reopened(desk: Desk, annotation: Annotation) -> Annotation:
    if annotation.state == "open":
        return annotation
    mine = (annotation.model, annotation.model_version) == (desk.tagger.name, desk.version)
    pins = annotation.pins if mine else dict(enumerate(annotation.final))
    return replace(annotation, pins=pins, state="open")


def _with(desk: Desk, before: Annotation, offsets: Offsets, pins: Mapping[int, str]) -> Annotation:
    """Return the next annotation, with the previous state for undo."""
    if (offsets, dict(pins)) == (before.offsets, dict(before.pins)):
        return before
    past = (*before.past, Step(before.offsets, dict(before.pins)))[-MAX_STEPS:]
    return replace(before, past=past, **desk.decoded(offsets, pins))
