"""Search for the chain of a CRF layer without an adapter, checked against the layer's answers.

While the model runs, the tensors that pass through its methods are recorded. Then every reading is
tried: which square parameter has the transitions and in which order, which tags or vectors are
start and stop, what forbids steps, and which tensor has the emissions. A reading counts if its best
path is the layer's path in every sentence. If the paths are also each word's best tag alone, they
prove nothing: then the scores have to agree, too. The search calls no method of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.engine.compiled import without_kernels
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.adapters import Adapter, Batch
from crfviz.taggers.brought.evidence.agreement import (
    HALF_TOLERANCE,
    TOLERANCE,
    best_alone,
    gap_of,
    held_to,
    is_best,
    read_as,
    reproduces_scores,
)
from crfviz.taggers.brought.evidence.matches import Match, merged
from crfviz.taggers.brought.evidence.places import Place, Sentence, find_places, sentences_at
from crfviz.taggers.brought.evidence.readings import LayerReading, Parameters, chain_of
from crfviz.taggers.brought.evidence.result_order import ordered
from crfviz.taggers.brought.recorder import MAX_BYTES, Recorder
from crfviz.taggers.brought.seen import Seen

MAX_COMPARED = 50  # sentences compared with the closest reading
MAX_SHOWN = 12  # tags of a path in a message
LIMIT = f"the limit is {MAX_BYTES // 1_000_000} MB of scores"
Missed = tuple[LayerReading, Place, list[Sentence]]  # sentences have the layer's tag ids


@dataclass
class Tried:
    """Outcomes of all readings."""

    found: list[Match] = field(default_factory=list)  # readings that reproduce all paths
    missed: list[Missed] = field(default_factory=list)  # all other readings
    plain: int = 0  # readings whose paths are each word's best tag alone
    most: int = 0  # sentences in the largest place
    single: int = 0  # the same, of places with only one-word sentences


class FoundLayer(Adapter):
    """A layer without an adapter, whose chain was inferred from recorded calls."""

    library = "the model"


class Search:
    """Recorder of an unknown layer, and the reading that reproduces its answers.

    Args:
        module: the model.
        tags: names of its tags, with or without start and stop.
    """

    def __init__(self, module: nn.Module, tags: Sequence[str] | None) -> None:
        self._module = module
        self._parameters = Parameters(module, tags)
        self._recorder = Recorder(module, self._parameters.sizes)
        self.record, self.calls = self._recorder.record, self._recorder.calls
        self.notes: list[str] = []  # which reading was found

    @property
    def hopeful(self) -> bool:
        """Return whether the model has a parameter that could be transitions."""
        return bool(self._parameters.square)

    @property
    def recorded(self) -> int:
        """The number of outermost calls."""
        return len(self.calls) + self._recorder.num_left_out

    @property
    def _tolerance(self) -> float:
        return HALF_TOLERANCE if self._recorder.is_half else TOLERANCE

    def seen(self) -> list[Seen]:
        """Return the sentences of the reading that reproduces the layer's paths; set `notes`.

        Raises:
            FormatError: as `solve` does.
        """
        with torch.no_grad(), without_kernels():  # loading them takes longer than the search
            reading, sentences, self.notes = self.solve()
        if self._recorder.num_left_out:
            self.notes.append(f"Later calls are not recorded: {LIMIT}.")
        adapter = FoundLayer(self._module, "", [self._module])
        tags = self._parameters.tag_names(reading)
        found = []
        for number, sentence in enumerate(sentences):
            chain = chain_of(reading, sentence.emissions)
            batch = Batch(
                emissions=chain.emissions[None],
                transitions=reading.transitions,
                start=reading.start,
                end=reading.end,
                tags=tags,
            )
            mask = [True] * len(sentence.emissions)
            where = f"sentence {number + 1}"
            found.append(Seen(adapter, batch, 0, mask, "", sentence.path, number, where))
        return found

    def solve(self) -> tuple[LayerReading, list[Sentence], list[str]]:
        """Return the reading that reproduces the layer's paths, its sentences, and notes on it.

        If none does, a reading that reproduces the scores counts: the layer decodes wrongly.

        Raises:
            FormatError: no reading does, or two different ones do; the message describes them.
        """
        tried = self._tried()
        found = _preferred(merged(tried.found, self.calls))
        scored = [] if found else _preferred(merged(self._by_scores(tried.missed), self.calls))
        if len(found or scored) != 1:
            closest = "" if found or scored or tried.plain else self._closest(tried.missed)
            raise FormatError(f"{self._declined(found or scored, tried)}{closest}")
        match = (found or scored)[0]
        in_order = ordered(match, self.calls)
        reading, sentences = match.reading, in_order.sentences
        count = len(sentences)
        right = sum(is_best(reading, each, self._tolerance) for each in sentences)
        note = f"{reading.name}; {count} of {count} paths are reproduced."
        if right < count:
            proof = "scores are reproduced" if scored else "paths of its layer are reproduced"
            note = (
                f"{reading.name}; {count} of {count} {proof}, but the paths of the "
                f"model are the best in {right} of {count} sentences: it decodes wrongly."
            )
        return reading, sentences, [note, *in_order.remarks]

    def _tried(self) -> Tried:
        tried = Tried()
        seen: dict[int, list[Match]] = {}  # by the hash of sentences that were compared already
        for place, calls in find_places(self._recorder):
            sentences = sentences_at(place, calls)
            if not sentences or max(len(each.emissions) for each in sentences) < 2:
                tried.single = max(tried.single, len(sentences))
                continue
            tried.most = max(tried.most, len(sentences))
            content = hash(
                tuple((e.call, *e.path, e.emissions.numpy().tobytes()) for e in sentences)
            )
            given = place.scores if place.is_given else None
            if content in seen:
                for match in seen[content] if given else ():
                    match.given = given
                continue
            matches = seen[content] = list[Match]()
            for reading in self._parameters.readings(sentences[0].emissions.shape[1]):
                kept = held_to(reading, sentences, self._tolerance)
                if kept is None:
                    tried.missed.append((reading, place, sentences))
                    continue
                scored = reproduces_scores(reading, kept)
                if all(best_alone(reading, each) == each.path for each in kept) and not scored:
                    tried.plain += 1
                else:
                    matches.append(Match(reading, place, kept, scored, given))
            tried.found += matches
        return tried

    def _by_scores(self, missed: Sequence[Missed]) -> list[Match]:
        """Return the readings that reproduce the model's scores, but not its paths."""
        found: list[Match] = []
        for reading, place, sentences in missed:
            kept = read_as(reading, sentences)
            if kept is None or len(kept) < 2 or not reading.transitions.any():
                continue
            if any(reproduces_scores(reading, kept, best=best) for best in (False, True)):
                found.append(Match(reading, place, kept, scored=True))
        return found

    def _closest(self, missed: Sequence[Missed]) -> str:
        """Describe the reading that reproduces most paths, and its first mismatch."""
        most: tuple[LayerReading, list[Sentence]] | None = None
        fewest = 1.0  # share of wrong paths
        for reading, _, sentences in missed:
            kept = read_as(reading, sentences[:MAX_COMPARED])
            if kept is None:
                continue
            share = sum(not is_best(reading, each, self._tolerance) for each in kept) / len(kept)
            if 0 < share < fewest:
                fewest, most = share, (reading, sentences)
        if most is None:
            return ""
        reading, kept = most[0], read_as(*most) or []
        wrong = [n for n, each in enumerate(kept) if not is_best(reading, each, self._tolerance)]
        if not wrong:
            return ""
        worst = kept[wrong[0]]
        best = best_path(chain_of(reading, worst.emissions))
        also = ", ".join(str(number + 1) for number in wrong[1:MAX_SHOWN])
        others = f" So do those of {also}{' …' * (len(wrong) > MAX_SHOWN)}." if also else ""
        return (
            f" The closest reading is {reading.name}: {len(kept) - len(wrong)} of {len(kept)} "
            f"paths. Sentence {wrong[0] + 1}: the model's path {_tags_text(worst.path)} scores "
            f"{gap_of(reading, worst):.4g} less than ours, {_tags_text(best)}.{others}"
        )

    def _declined(self, found: Sequence[Match], tried: Tried) -> str:
        square = ", ".join(
            f"{name} {tuple(t.shape)}" for name, t in self._parameters.square.items()
        )
        advice = "Else call crfviz.register_adapter before."
        if self._recorder.has_nan:
            return f"No chain was found: some scores are NaN. {advice}"
        if self._recorder.num_left_out and not self.calls:
            return f"No chain was found: a call is too large, {LIMIT}. Pass fewer sentences."
        if tried.single and not tried.most:
            return (
                "No chain was found: every sentence has one word, which no transition scores. Run "
                f"longer sentences. {advice}"
            )
        if not tried.most:
            return (
                f"No chain was found: the square parameters are {square}, and no path of tags was "
                f"returned for scores of as many tags. Call what decodes inside of the with block. "
                f"{advice}"
            )
        if found:
            return (
                f"Two readings fit all paths: {_alternatives(found)}. Run more sentences. {advice}"
            )
        if tried.plain:
            return (
                f"No chain was found: each word's best tag alone gives all {tried.most} paths, so "
                f"that {square} may be no transitions. Run more and longer sentences. {advice}"
            )
        return (
            f"No chain was found: no reading of {square} gives the paths that the model returned "
            f"for {tried.most} sentences. {advice}"
        )


def _preferred(found: Sequence[Match]) -> list[Match]:
    """Prefer matches with scores, then those without guessed start and stop, then more calls."""
    if any(match.scored for match in found):
        found = [match for match in found if match.scored]
    if not all(match.reading.guessed for match in found):
        found = [match for match in found if not match.reading.guessed]
    calls = [{sentence.call for sentence in match.sentences} for match in found]
    return [
        match
        for match, own in zip(found, calls, strict=True)
        if not any(own < other for other in calls)
    ]


def _alternatives(found: Sequence[Match]) -> str:
    """Return the names of the first matches, with their places where two have one reading."""
    names = [match.reading.name for match in found]
    said = dict.fromkeys(
        str(match) if names.count(match.reading.name) > 1 else match.reading.name for match in found
    )
    return "; or ".join(list(said)[:3])


def _tags_text(path: Sequence[int]) -> str:
    more = " …" if len(path) > MAX_SHOWN else ""
    return " ".join(map(str, path[:MAX_SHOWN])) + more
