"""Where an emission comes from: each word is hidden once, and the sentence is scored again.

To hide a word is to put `HIDDEN` in its place: one lower-case letter that no tagger has met. To the
shipped networks that is the unknown word, spelled with one unknown character, in the shape of an
ordinary lower-case word; to any other tagger it is what an unknown word is to it. Nothing else of
the sentence changes, so what moves is what the other words' scores took from the hidden one.

Source: Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks" (2014), section
4.2, for images; Li, Monroe and Jurafsky, "Understanding Neural Networks through Representation
Erasure" (2016), for words.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.potentials import Potentials, Tag
from crfviz.exceptions import CrfvizError, UnknownObservationError
from crfviz.taggers.tagger import Tagger, Words, words_of

HIDDEN = "\ua723"  # LATIN SMALL LETTER EGYPTOLOGICAL ALEF
ROUNDING = 1e-4  # nats; a batch in float32 may differ from single sentences by less than this


@dataclass(frozen=True, eq=False)
class Occlusion:
    """A sentence as it is, and with each of its T words hidden in turn."""

    whole: Potentials
    hidden: tuple[Potentials, ...]  # T chains; number s has its word s hidden

    def change(self, position: int, tag: Tag) -> Tensor:
        """What hiding each word does to the emission of a tag at a position.

        It is (T,) nats: emission with word s hidden - emission of the whole sentence; what is less
        than `ROUNDING` is 0.
        """
        cell = (position, self.whole.tag_id(tag))
        scores = torch.stack([chain.emissions[cell] for chain in self.hidden])
        whole = self.whole.emissions[cell]
        change = torch.where(scores == whole, 0.0, scores - whole)  # both may be -inf
        return torch.where(change.abs() < ROUNDING, 0.0, change)


def occlude(tagger: Tagger, tokens: Words, *, constrained: bool = True) -> Occlusion:
    """Score a sentence of T words T + 1 times, in one batch: whole, and with each word hidden.

    Raises:
        EmptySentenceError: there is no word.
        CrfvizError: the tagger knows a few observations or sentences only, so that it has nothing
            for `HIDDEN`.
    """
    if tagger.observations is not None:
        known = ", ".join(tagger.observations)
        raise CrfvizError(f"{tagger.name} knows only {known}: no observation can be hidden")
    words = words_of(tokens)
    variants = [(*words[:s], HIDDEN, *words[s + 1 :]) for s in range(len(words))]
    try:
        whole, *hidden = tagger.potentials_batch([words, *variants], constrained=constrained)
    except UnknownObservationError as error:
        raise CrfvizError(
            f"{tagger.name} knows only the sentences of its file: no word can be hidden"
        ) from error
    return Occlusion(whole, tuple(hidden))
