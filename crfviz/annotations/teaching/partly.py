"""Begun sentences to learn from: the annotator's tags and sure guesses are given, the rest is free.

A free word is summed over: what is learnt does not depend on a guess that may be wrong.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crfviz.annotations.marking import ends
from crfviz.annotations.propagation import DOUBT, propose
from crfviz.annotations.records import Annotation, Item
from crfviz.corpus.training.feature_crf import PartlyTagged
from crfviz.exceptions import CrfvizError
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import is_bio
from crfviz.text.sentences import words_at


def partly_tagged(
    pairs: Sequence[tuple[Item, Annotation]], tags: Sequence[str], tagger: Tagger | None
) -> list[PartlyTagged]:
    """Return the begun sentences in which somebody has set a tag.

    Args:
        pairs: sentences with what was said about them.
        tags: K, in id order; a sentence with another one is left out.
        tagger: of these tags; tags with at least 0.9 under the tags that were set count as given.
            None, or one without probabilities, guesses nothing.
    """
    found = []
    for item, annotation in pairs:
        pins = {*annotation.pins.values()}
        if annotation.state == "open" and pins and pins <= {*tags}:
            words = words_at(item.text, annotation.offsets)
            found.append(PartlyTagged(words, _allowed(words, annotation, tags, tagger)))
    return found


def _allowed(
    words: tuple[str, ...], annotation: Annotation, tags: Sequence[str], tagger: Tagger | None
) -> NDArray[np.bool_]:
    ids = {tag: index for index, tag in enumerate(tags)}
    given = dict(annotation.pins)
    if tagger is not None and tagger.probabilistic and set(tagger.tags) <= set(tags):
        try:
            guess = propose(tagger.potentials(words), annotation.pins)
        except CrfvizError:  # the model cannot score them, or has not one of the tags
            pass
        else:
            sure = enumerate(zip(guess.tags, guess.probabilities, strict=True))
            given = {t: tag for t, (tag, p) in sure if p >= DOUBT} | given
    allowed = np.ones((len(words), len(tags)), dtype=np.bool_)
    for position, tag in ends(annotation.pins, len(words)) if is_bio(tags) else ():
        allowed[position, ids[tag]] = False
    for position, tag in given.items():
        allowed[position] = False
        allowed[position, ids[tag]] = True
    return allowed
