"""Partial labels of open sentences: the annotator's tags and confident guesses are known.

Other words have the tag UNSET and are summed over, so that training does not depend on wrong
guesses. See `crfviz.corpus.training.feature_crf.partly_tagged`.
"""

from collections.abc import Mapping, Sequence

from crfviz.annotations.labelling import DOUBT, propose
from crfviz.annotations.records import Pair
from crfviz.exceptions import CrfvizError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import units
from crfviz.text.sentences import Sentence, words_at


def begun(pairs: Sequence[Pair], tags: Sequence[str], tagger: Tagger | None) -> list[Sentence]:
    """Return the open sentences with at least one set tag; other words are UNSET.

    Args:
        pairs: sentences with their annotations.
        tags: the allowed tags; other sentences are left out.
        tagger: its tags with marginals of at least 0.9 under the set tags count as known; for BIO
            tags, whole entities and O. None, or one without probabilities, adds no guesses.


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
    except CrfvizError:  # the model cannot score the words, or lacks a tag
        return {}
    return {
        t: guess.tags[t]
        for first, end in units(guess.tags)
        if all(guess.probabilities[t] >= DOUBT for t in range(first, end))
        for t in range(first, end)
    }
