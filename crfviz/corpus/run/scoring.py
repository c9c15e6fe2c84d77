"""The chains of many sentences."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crfviz.chain.potentials import Potentials
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

AT_ONCE = 128  # sentences of like length; nothing else is done meanwhile


@dataclass(frozen=True, eq=False)
class Scored:
    """Sentences with their chains."""

    sentences: Sequence[Sentence]
    chains: list[Potentials]
    trained: list[Potentials]  # the same without the rules of BIO
    seconds: float  # that scoring took


def scored(
    tagger: Tagger, sentences: Sequence[Sentence], pause: Callable[[], object] = lambda: None
) -> Scored:
    """The chains of sentences, those of like length scored together, which saves padding."""
    order = sorted(range(len(sentences)), key=lambda index: len(sentences[index].tokens))
    chains, trained, seconds = dict[int, Potentials](), dict[int, Potentials](), 0.0
    for start in range(0, len(order), AT_ONCE):
        started = time.perf_counter()
        group = order[start : start + AT_ONCE]
        words = [sentences[index].tokens for index in group]
        found = tagger.potentials_batch(words)
        chains |= zip(group, found, strict=True)
        if tagger.scheme:
            found = tagger.potentials_batch(words, constrained=False)
        trained |= zip(group, found, strict=True)
        seconds += time.perf_counter() - started
        pause()
    places = range(len(sentences))
    return Scored(sentences, [chains[i] for i in places], [trained[i] for i in places], seconds)
