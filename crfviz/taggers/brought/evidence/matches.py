"""Matches of readings with recorded answers: those of one chain become one.

The scores and paths of a sentence pass through several methods, for example one by one through a
helper and together in the model's result. So the same chain is found in several places.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch

from crfviz.taggers.brought.evidence.places import Place, Sentence
from crfviz.taggers.brought.evidence.readings import LayerReading, emissions_of
from crfviz.taggers.brought.recorder import Call, Slot

SAME = 1e-4  # rounding error of scores that differ by a constant for each word


@dataclass(eq=False)
class Match:
    """A reading, and sentences whose paths or scores it reproduces."""

    reading: LayerReading
    place: Place
    sentences: list[Sentence]  # paths are in the reading's tags
    scored: bool  # it reproduces the scores, too
    given: Slot | None = None  # where the method that returns the paths gets the scores

    def __str__(self) -> str:
        return f"{self.reading.name} ({self.place})"


def merged(matches: Sequence[Match], calls: Sequence[Call]) -> list[Match]:
    """Return one match for each different chain.

    Matches of one reading are merged call by call. A match that has every sentence of the others
    stands for them: first one with scores, then one in the order of the model's result.
    """
    groups: list[list[Match]] = []
    for match in matches:
        group = next((g for g in groups if _tables_equal(g[0].reading, match.reading)), None)
        if group is None:
            groups.append([match])
        else:
            group.append(match)
    return [match for group in groups for match in _merged(group, calls)]


def _merged(group: Sequence[Match], calls: Sequence[Call]) -> list[Match]:
    """Return one match if those of a reading agree in every call; else all of them."""
    if len(group) == 1:
        return list(group)
    by_call = [{n: list(each) for n, each in groupby(m.sentences, _call_of)} for m in group]
    reading = group[0].reading
    sentences: list[Sentence] = []
    leading: Match | None = None
    for call in calls:
        parts = [
            (match, found[call.number])
            for match, found in zip(group, by_call, strict=True)
            if call.number in found
        ]
        parts.reverse()  # of equal ranks, the last is next to the decoder
        ranked = sorted(parts, key=lambda part: _rank(part[0], part[1], call))
        whole = next((p for p in ranked if all(_has(reading, p[1], o) for _, o in ranked)), None)
        if whole is None and ranked:
            nearest = _next_to_decoder(group, calls)
            return [nearest] if nearest else list(group)
        if whole is not None:
            leading = leading or whole[0]
            sentences += whole[1]
    scored = any(match.scored for match in group)
    return [replace(leading or group[0], sentences=sentences, scored=scored)]


def _next_to_decoder(group: Sequence[Match], calls: Sequence[Call]) -> Match | None:
    """Return the match whose scores the decoder gets, if no others come later; else None.

    Scores and their multiples may have the same best paths.
    """
    order = list(dict.fromkeys(slot for call in calls for slot in call.scores))
    last = max(group, key=lambda match: order.index(match.given or match.place.scores))
    is_whole = len(last.sentences) == max(len(match.sentences) for match in group)
    return last if last.given and is_whole else None


def _call_of(sentence: Sentence) -> int:
    return sentence.call


def _rank(match: Match, sentences: Sequence[Sentence], call: Call) -> tuple[bool, bool, int, bool]:
    """Return a key that sorts the best match of a call first."""
    is_padded = match.place.words is None and any(each.is_padded for each in sentences)
    words = sum(len(each.path) for each in sentences)
    return not match.scored, is_padded, -words, not is_returned(match.place.paths, call)


def is_returned(paths: Slot, call: Call) -> bool:
    """Return whether paths are a result of an outermost call."""
    where, name = paths
    return where == call.method and name.startswith("result")


def _has(reading: LayerReading, sentences: Sequence[Sentence], others: Sequence[Sentence]) -> bool:
    """Return whether each of the other sentences is one of these, or the same without padding."""
    same = [are_alike(reading, *pair) for pair in zip(sentences, others, strict=False)]
    if len(sentences) == len(others) and all(same):
        return True
    return all(any(are_alike(reading, one, other) for one in sentences) for other in others)


def are_alike(reading: LayerReading, one: Sentence, other: Sentence) -> bool:
    """Return whether two sentences have the same path, and the same scores up to constants.

    Where one is longer, only the words of the other are compared.
    """
    length = min(len(one.path), len(other.path))
    if one.path[:length] != other.path[:length]:
        return False
    scores = [emissions_of(reading, each.emissions[:length]) for each in (one, other)]
    centred = [each - each.amax(1, keepdim=True) for each in scores]
    return torch.allclose(centred[0], centred[1], rtol=SAME, atol=SAME)


def _tables_equal(one: LayerReading, other: LayerReading) -> bool:
    if one.kept != other.kept:
        return False
    zero = torch.zeros(len(one.kept), dtype=torch.float64)
    tables = [
        [reading.transitions, *(zero if t is None else t for t in (reading.start, reading.end))]
        for reading in (one, other)
    ]
    return all(map(torch.equal, *tables))
