"""Comparison of a reading with the layer's output: its paths, and its scores if returned."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crfviz.chain.decoding.viterbi import best_path
from crfviz.exceptions import CrfvizError
from crfviz.taggers.brought.evidence.places import Sentence
from crfviz.taggers.brought.evidence.readings import LayerReading, chain_of

TOLERANCE = 1e-4  # relative rounding error of a score in float32
HALF_TOLERANCE = 2e-2  # the same in float16 and bfloat16


def held_to(
    reading: LayerReading, sentences: Sequence[Sentence], tolerance: float
) -> list[Sentence] | None:
    """Return the sentences with paths in the reading's tags; None if a path is not the best."""
    kept = []
    for sentence in sentences:
        each = read_as(reading, [sentence])
        if each is None:
            return None
        try:
            chain = chain_of(reading, sentence.emissions)
            best = best_path(chain)
            most, score = chain.score(best), chain.score(each[0].path)
        except CrfvizError:
            return None
        if each[0].path != best and not most - score <= tolerance * max(1.0, abs(most)):
            return None
        kept += each
    return kept


def read_as(reading: LayerReading, sentences: Sequence[Sentence]) -> list[Sentence] | None:
    """Return the sentences with paths in the reading's tags; None if a path does not fit."""
    kept = []
    for sentence in sentences:
        words = len(sentence.emissions)
        path = tags_of(reading, sentence.path, words, is_padded=sentence.is_padded)
        if path is None:
            return None
        kept.append(replace(sentence, path=path))
    return kept


def tags_of(
    reading: LayerReading, path: Sequence[int], words: int, *, is_padded: bool
) -> list[int] | None:
    """Return a path of a number of words in the reading's tags, without START and STOP.

    None if it is too short, if it has other tags, or if it is too long and not padded.
    """
    number = {layer: tag for tag, layer in enumerate(reading.kept)}
    tags = list(path)
    if len(tags) > words and _is_boundary(reading, tags[0]):
        tags = tags[1:]
    rest = tags[words:]
    if len(tags) < words or not all(tag in number for tag in tags[:words]):
        return None
    if not is_padded and not all(_is_boundary(reading, tag) for tag in rest):
        return None
    return [number[tag] for tag in tags[:words]]


def _is_boundary(reading: LayerReading, tag: int) -> bool:
    return 0 <= tag < reading.size and tag not in reading.kept


def is_best(reading: LayerReading, sentence: Sentence, tolerance: float) -> bool:
    """Return whether the model's path is the best one, up to rounding."""
    gap = gap_of(reading, sentence)
    if gap == float("inf"):
        return False
    score = chain_of(reading, sentence.emissions).score(sentence.path)
    return gap <= tolerance * max(1.0, abs(score))


def gap_of(reading: LayerReading, sentence: Sentence) -> float:
    """Return the best path's score minus that of the model's path; infinite if forbidden."""
    try:
        chain = chain_of(reading, sentence.emissions)
        return chain.score(best_path(chain)) - chain.score(sentence.path)
    except CrfvizError:  # no scores, or no path
        return float("inf")


def best_alone(reading: LayerReading, sentence: Sentence) -> list[int]:
    """Return the tag with the highest emission of each word."""
    return [int(tag) for tag in chain_of(reading, sentence.emissions).emissions.argmax(1)]


def reproduces_scores(
    reading: LayerReading, sentences: Sequence[Sentence], *, best: bool = False
) -> bool:
    """Return whether the layer returned the score of its path for every sentence.

    With `best`, the score of the best path instead.
    """
    slots = set(sentences[0].totals).intersection(*(each.totals for each in sentences))
    if not slots:
        return False
    try:
        chains = [chain_of(reading, each.emissions) for each in sentences]
        scores = [
            chain.score(best_path(chain) if best else each.path)
            for chain, each in zip(chains, sentences, strict=True)
        ]
    except CrfvizError:  # no scores, or no path
        return False
    return any(
        np.allclose([each.totals[slot] for each in sentences], scores, TOLERANCE, TOLERANCE)
        for slot in slots
    )
