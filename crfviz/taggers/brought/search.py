"""Search for the chain of a CRF layer without an adapter, checked against the layer's answers.

While the model runs, the tensors that pass through its methods are recorded. Then every reading is
tried: which square parameter has the transitions and in which order, which tags or vectors are
start and stop, what forbids steps, and which tensor has the emissions. A reading counts if its best
path is the layer's path in every sentence. If the paths are also each word's best tag alone, they
prove nothing: then the scores have to agree, too. The search calls no method of the model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from crfviz.chain.decoding.viterbi import best_path
from crfviz.chain.engine.compiled import without_kernels
from crfviz.exceptions import FormatError
from crfviz.taggers.brought.adapters import Adapter, Batch
from crfviz.taggers.brought.agreement import (
    HALF_TOLERANCE,
    TOLERANCE,
    are_same,
    best_alone,
    gap_of,
    held_to,
    is_best,
    read_as,
    reproduces_scores,
)
from crfviz.taggers.brought.places import Sentence, find_places, sentences_at
from crfviz.taggers.brought.readings import LayerReading, Parameters, chain_of
from crfviz.taggers.brought.recorder import Recorder
from crfviz.taggers.brought.seen import Seen

MAX_COMPARED = 50  # sentences compared with the closest reading
MAX_SHOWN = 12  # tags of a path in a message
Found = tuple[LayerReading, list[Sentence], bool]  # the last: it also reproduces the scores


@dataclass
class Tried:
    """Outcomes of all readings."""

    found: list[Found] = field(default_factory=list)  # readings that reproduce all paths
    # all other readings
    missed: list[tuple[LayerReading, list[Sentence]]] = field(default_factory=list)
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
        """The number of recorded outermost calls."""
        return len(self.calls)

    @property
    def _tolerance(self) -> float:
        return HALF_TOLERANCE if self._recorder.is_half else TOLERANCE

    def seen(self) -> list[Seen]:
        """Return the sentences of the reading that reproduces the layer's paths; set `notes`.

        Raises:
            FormatError: as `solve` does.
        """
        with torch.no_grad(), without_kernels():  # loading them takes longer than the search
            reading, sentences, note = self.solve()
        self.notes = [note]
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

    def solve(self) -> tuple[LayerReading, list[Sentence], str]:
        """Return the reading that reproduces the layer's paths, its sentences, and a note on it.

        If none does, a reading that reproduces the scores counts: the layer decodes wrongly.

        Raises:
            FormatError: no reading does, or two different ones do; the message describes them.
        """
        tried = self._tried()
        found = _preferred(tried.found)
        if len(found) == 1:
            reading, sentences, _ = found[0]
            count = len(sentences)
            return reading, sentences, f"{reading.name}; {count} of {count} paths are reproduced."
        if found or tried.plain:
            raise FormatError(self._declined(found, tried))
        scored = _preferred(list(self._by_scores(tried.missed)))
        if len(scored) == 1:
            reading, sentences, _ = scored[0]
            count = len(sentences)
            right = sum(is_best(reading, each, self._tolerance) for each in sentences)
            note = (
                f"{reading.name}; {count} of {count} scores are reproduced, but the paths of the "
                f"model are the best in {right} of {count} sentences: it decodes wrongly."
            )
            return reading, sentences, note
        closest = "" if scored else self._closest(tried.missed)
        raise FormatError(f"{self._declined(scored, tried)}{closest}")

    def _tried(self) -> Tried:
        """Compare every reading with the paths in every possible place."""
        tried = Tried()
        seen: set[int] = set()  # hashes of sentences that were compared already
        for place in find_places(self.calls):
            sentences = list(sentences_at(place, self.calls))
            if not sentences or max(len(each.emissions) for each in sentences) < 2:
                tried.single = max(tried.single, len(sentences))
                continue
            tried.most = max(tried.most, len(sentences))
            content = hash(tuple((*e.path, e.emissions.numpy().tobytes()) for e in sentences))
            if content in seen:
                continue
            seen.add(content)
            for reading in self._parameters.readings(sentences[0].emissions.shape[1]):
                kept = held_to(reading, sentences, self._tolerance)
                if kept is None:
                    tried.missed.append((reading, sentences))
                    continue
                scored = reproduces_scores(reading, kept)
                if all(best_alone(reading, each) == each.path for each in kept) and not scored:
                    tried.plain += 1
                elif not any(are_same(reading, kept, *each[:2]) for each in tried.found):
                    tried.found.append((reading, kept, scored))
        return tried

    def _by_scores(
        self, readings: Sequence[tuple[LayerReading, list[Sentence]]]
    ) -> Iterator[Found]:
        """Yield the different readings that reproduce the model's scores, but not its paths."""
        found: list[tuple[LayerReading, list[Sentence]]] = []
        for reading, sentences in readings:
            kept = read_as(reading, sentences)
            if kept is None or len(kept) < 2 or not reading.transitions.any():
                continue
            scored = any(reproduces_scores(reading, kept, best=best) for best in (False, True))
            if scored and not any(are_same(reading, kept, *each) for each in found):
                found.append((reading, kept))
        yield from ((*each, True) for each in found)

    def _closest(self, readings: Sequence[tuple[LayerReading, list[Sentence]]]) -> str:
        """Describe the reading that reproduces most paths, and its first mismatch."""
        most: tuple[int, LayerReading, list[Sentence]] | None = None
        for reading, sentences in readings:
            kept = read_as(reading, sentences[:MAX_COMPARED])
            if kept is None:
                continue
            right = sum(is_best(reading, each, self._tolerance) for each in kept)
            if (0 if most is None else most[0]) < right < len(kept):
                most = right, reading, kept
        if most is None:
            return ""
        right, reading, kept = most
        number = next(
            n for n, each in enumerate(kept) if not is_best(reading, each, self._tolerance)
        )
        worst = kept[number]
        best = best_path(chain_of(reading, worst.emissions))
        return (
            f" The closest reading is {reading.name}: {right} of {len(kept)} paths. Sentence "
            f"{number + 1}: the model's path {_tags_text(worst.path)} scores "
            f"{gap_of(reading, worst):.4g} less than ours, {_tags_text(best)}."
        )

    def _declined(self, found: Sequence[Found], tried: Tried) -> str:
        square = ", ".join(
            f"{name} {tuple(t.shape)}" for name, t in self._parameters.square.items()
        )
        advice = "Else call crfviz.register_adapter before."
        if self._recorder.has_nan:
            return f"No chain was found: some scores are NaN. {advice}"
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
            names = "; or ".join(reading.name for reading, *_ in found[:3])
            return f"Two readings fit all paths: {names}. Run more sentences. {advice}"
        if tried.plain:
            return (
                f"No chain was found: each word's best tag alone gives all {tried.most} paths, so "
                f"that {square} may be no transitions. Run more and longer sentences. {advice}"
            )
        return (
            f"No chain was found: no reading of {square} gives the paths that the model returned "
            f"for {tried.most} sentences. {advice}"
        )


def _preferred(found: Sequence[Found]) -> list[Found]:
    """Prefer readings that reproduce scores, then those without guessed start and stop."""
    if any(scored for *_, scored in found):
        found = [each for each in found if each[2]]
    if not all(reading.guessed for reading, *_ in found):
        found = [each for each in found if not each[0].guessed]
    return list(found)


def _tags_text(path: Sequence[int]) -> str:
    """Return the first tags of a path."""
    more = " …" if len(path) > MAX_SHOWN else ""
    return " ".join(map(str, path[:MAX_SHOWN])) + more
