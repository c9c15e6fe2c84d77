"""Begun sentences to learn from: the annotator's tags and sure guesses are given, the rest is free.

A free word has the tag UNSET and is summed over: what is learnt does not depend on a guess that may
be wrong. See `crfviz.corpus.training.feature_crf.partly_tagged`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from crfviz.annotations.curation import Copies, chosen_copies, finished_first
from crfviz.annotations.labelling import DOUBT, propose
from crfviz.annotations.records import Annotation, Item
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import OUTSIDE, continues, is_bio
from crfviz.text.sentences import Sentence, words_at


def learnable(
    pairs: Sequence[tuple[Item, Annotation]], copies: Copies | None
) -> list[tuple[Item, Annotation]]:
    """Return the answers of finished sentences, and the begun ones that nobody has finished."""
    done = [pair for pair in pairs if pair[1].state == "done"]
    if copies is None:
        chosen_copies(done, None)  # refuses
    begun = [pair for pair in finished_first(pairs) if pair[1].state != "done"]
    return [*chosen_copies(done, "agreed"), *begun]


def begun(
    pairs: Sequence[tuple[Item, Annotation]], tags: Sequence[str], tagger: Tagger | None
) -> list[Sentence]:
    """Return the begun sentences in which somebody has set a tag, UNSET where a word is free.

    Args:
        pairs: sentences with what was said about them.
        tags: a sentence with another one is left out.
        tagger: tags of at least 0.9 under those that were set count as given; of BIO tags whole
            entities and O. None, or one without probabilities, guesses nothing.
    """
    found = []
    for item, annotation in pairs:
        pins = annotation.pins
        if annotation.state == "open" and pins and {*pins.values()} <= {*tags}:
            words = words_at(item.text, annotation.offsets)
            given = {**_guesses(words, pins, tags, tagger), **pins}
            found.append(Sentence(words, tuple(given.get(t, UNSET) for t in range(len(words)))))
    return found


def _guesses(
    words: tuple[str, ...], pins: Mapping[int, str], tags: Sequence[str], tagger: Tagger | None
) -> dict[int, str]:
    if tagger is None or not tagger.probabilistic or not set(tagger.tags) <= set(tags):
        return {}
    try:
        guess = propose(tagger.potentials(words), pins)
    except CrfvizError:  # the model cannot score them, or has not one of the tags
        return {}
    return {
        t: guess.tags[t]
        for unit in _units(guess.tags, bio=is_bio(tags))
        if all(guess.probabilities[t] >= DOUBT for t in unit)
        for t in unit
    }


def _units(tags: Sequence[str], *, bio: bool) -> Iterator[range]:
    """Words of an entity together, all others alone."""
    rows = enumerate(zip(tags, (OUTSIDE, *tags[:-1]), strict=True))
    starts = [t for t, (tag, before) in rows if not (bio and continues(tag, before))]
    yield from (range(start, end) for start, end in pairwise([*starts, len(tags)]))
