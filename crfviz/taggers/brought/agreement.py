"""Comparison of a reading with the layer's output: its paths, and its scores if returned."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from crfviz.chain.decoding.viterbi import best_path
from crfviz.exceptions import CrfvizError
from crfviz.taggers.brought.places import Sentence
from crfviz.taggers.brought.readings import LayerReading, chain_of

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
    number = {layer: tag for tag, layer in enumerate(reading.kept)}
    kept = []
    for sentence in sentences:
        path = _inner(sentence.path, len(sentence.emissions), reading)
        if path is None or not all(tag in number for tag in path):
            return None
        kept.append(replace(sentence, path=[number[tag] for tag in path]))
    return kept


def _inner(path: Sequence[int], words: int, reading: LayerReading) -> list[int] | None:
    """Return the path without START and STOP; None if it is too short."""
    outside = set(range(reading.size)) - set(reading.kept)
    tags = list(path)
    if len(tags) > words and tags[0] in outside:
        tags = tags[1:]
    tags = tags[:words]
    return tags if len(tags) == words else None


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
    if not all(each.total for each in sentences):
        return False
    try:
        chains = [chain_of(reading, each.emissions) for each in sentences]
        scores = [
            chain.score(best_path(chain) if best else each.path)
            for chain, each in zip(chains, sentences, strict=True)
        ]
    except CrfvizError:  # no scores, or no path
        return False
    for numbers in zip(*(each.total for each in sentences), strict=False):
        if np.allclose(numbers, scores, rtol=TOLERANCE, atol=TOLERANCE):
            return True
    return False


def are_same(
    one: LayerReading,
    sentences: Sequence[Sentence],
    other: LayerReading,
    others: Sequence[Sentence],
) -> bool:
    """Return whether two readings give exactly the same chains."""
    if len(sentences) != len(others) or one.kept != other.kept:
        return False
    return all(
        torch.equal(a.emissions, b.emissions) and _tables_equal(one, other)
        for a, b in zip(sentences, others, strict=True)
    )


def _tables_equal(one: LayerReading, other: LayerReading) -> bool:
    zero = torch.zeros(len(one.kept), dtype=torch.float64)
    pairs = [
        (one.transitions, other.transitions),
        *(
            ((a if a is not None else zero), (b if b is not None else zero))
            for a, b in ((one.start, other.start), (one.end, other.end))
        ),
    ]
    return all(torch.equal(a, b) for a, b in pairs)
