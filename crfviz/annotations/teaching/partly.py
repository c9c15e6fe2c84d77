"""Begun sentences to learn from: the annotator's tags and sure guesses are given, the rest is free.

A free word has the tag UNSET and is summed over: what is learnt does not depend on a guess that may
be wrong. See `crfviz.corpus.training.feature_crf.partly_tagged`.
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
        for first, end in units(guess.tags)
        if all(guess.probabilities[t] >= DOUBT for t in range(first, end))
        for t in range(first, end)
    }
