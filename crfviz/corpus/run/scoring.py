"""The chains of many sentences, batch after batch, by one thread or with another ahead of it."""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import chain

from crfviz.chain.potentials import Potentials
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

AT_ONCE = 128  # sentences of like length; nothing else is done meanwhile
LOOK = 0.02  # seconds between two pauses while the other thread is at work

Groups = Iterable[Sequence[Sentence]]
Pause = Callable[[], object]


@dataclass(frozen=True, eq=False)
class Scored:
    """Sentences with their chains."""

    sentences: Sequence[Sentence]
    chains: list[Potentials]
    trained: list[Potentials]  # the same without the rules of BIO
    seconds: float  # that scoring took


def scored_in_turn(tagger: Tagger, groups: Groups, pause: Pause) -> Generator[Scored]:
    """Each group with its chains, scored when it is asked for."""
    for group in groups:
        yield _scored(tagger, group, pause)


def scored_ahead(tagger: Tagger, groups: Groups, pause: Pause) -> Generator[Scored]:
    """The same, and the next group is being scored while somebody looks at one.

    The sums of a network do not hold Python's lock, so that two cores are at work.
    """
    with ThreadPoolExecutor(1) as other:
        asked = (other.submit(_scored, tagger, group) for group in groups)
        coming = next(asked)
        for following in chain(asked, [None]):
            while not coming.done():
                pause()
                wait([coming], LOOK)
            yield coming.result()
            if following is not None:
                coming = following


def _scored(tagger: Tagger, sentences: Sequence[Sentence], pause: Pause = lambda: None) -> Scored:
    """Those of like length together, which saves padding."""
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
