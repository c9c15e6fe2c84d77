"""Results of a run over tagged sentences, with a bounded log of errors.

The M words of all sentences are concatenated in flat arrays: a million words take about 45 MB. Tags
are ids.

All errors are counted, and up to `MAX_KEPT` of each list are stored with their sentences. If a file
has more errors, the first and the most suspicious ones are stored, so that memory is bounded.

An error is attributed to a transition if its kind (`crfviz.chain.questions.triage`) is transition,
both or constraint. The step is the one most against gold. It has two moves: that of the best path
(too strong) and that of gold (too weak, or forbidden).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.edits import Move
from crfviz.chain.questions.costs import Costs
from crfviz.corpus.run.errors import EntitySuspect, Error
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

MAX_KEPT = 10_000  # errors, suspects and suspected entities, each
OF_TRANSITIONS = ("transition", "both", "constraint")  # kinds that are attributed to a step

BEAMS = {"beam_2": 2, "beam_4": 4, "beam_8": 8}  # width by name
RULE = "rule"  # decoder of runs with a rule: Viterbi over matching paths
LEAST_COST = "least_cost"  # decoder of runs with costs: the path of least expected cost
EVERY_DECODER = ("independent", "left_to_right", *BEAMS, "viterbi", "max_marginal")
ORACLE_PATHS = 8  # k of the k-best oracle
LENGTHS = (5, 10, 20, 40)  # upper ends, in words, of all groups of sentences but the last
SEEN = ("seen with this tag", "seen with other tags only", "never seen")  # in training

Item = TypeVar("Item")
Key = TypeVar("Key", bound=tuple[float, ...])


@dataclass
class ErrorTotals:
    """Running counts of errors."""

    errors: Counter[str] = field(default_factory=Counter)  # errors by kind
    words: Counter[str] = field(default_factory=Counter)  # wrong words by kind of error
    # wrong words by gold and predicted tag, and by kind of their error
    pairs: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    # step gaps of errors, by chosen and gold move
    moves: dict[tuple[Move, Move], list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def total(self) -> int:
        return self.errors.total()

    def add(self, error: Error) -> None:
        """Count one error."""
        kind = error.triage.kind
        self.errors[kind] += 1
        self.words[kind] += len(error.gold)
        for pair in zip(error.gold, error.predicted, strict=True):
            self.pairs[pair][kind] += 1
        if kind in OF_TRANSITIONS:
            self.moves[error.chosen_move, error.gold_move].append(error.step_gap)


class Smallest(Generic[Item, Key]):
    """A bounded list of the `most` items with the smallest keys.

    >>> kept = Smallest(2, key=lambda n: (n,))
    >>> for n in (5, 1, 4, 3, 2):
    ...     kept.add(n)
    >>> kept.items()
    [1, 2]
    """

    def __init__(self, most: int, key: Callable[[Item], Key]) -> None:
        self._most = most
        self._key = key
        self._items: list[Item] = []

    def add(self, item: Item) -> None:
        """Add an item; from time to time, drop items beyond `most`."""
        self._items.append(item)
        if len(self._items) > 2 * self._most:
            self._items = self.items()

    def items(self) -> list[Item]:
        """Return the items, smallest key first; equal keys in the order of addition."""
        return sorted(self._items, key=self._key)[: self._most]


@dataclass
class ErrorLog:
    """A bounded log of errors."""

    most: int = MAX_KEPT
    totals: ErrorTotals = field(default_factory=ErrorTotals)
    first: list[Error] = field(default_factory=list)  # in the order of the file
    sentences: dict[int, Sentence] = field(default_factory=dict)  # sentences with stored errors
    suspected: int = 0  # entities that one side lacks, listed or not

    def __post_init__(self) -> None:
        self._suspects: Smallest[Error, tuple[float, ...]] = Smallest(self.most, suspicion)
        self._entities: Smallest[EntitySuspect, tuple[float, ...]] = Smallest(
            self.most, attrgetter("order")
        )

    @property
    def suspects(self) -> list[Error]:
        """The items in the order in which to review gold."""
        return self._suspects.items()

    @property
    def entity_suspects(self) -> list[EntitySuspect]:
        """The items in the order in which to review gold."""
        return self._entities.items()

    def add(
        self, sentence: Sentence, errors: Sequence[Error], entities: Sequence[EntitySuspect] = ()
    ) -> None:
        """Log the errors and suspected entities of one sentence."""
        for error in errors:
            self.totals.add(error)
            if len(self.first) < self.most:
                self.first.append(error)
            self._suspects.add(error)
            self.sentences[error.sentence] = sentence
        for suspect in entities:
            self.suspected += 1
            self._entities.add(suspect)
            self.sentences[suspect.sentence] = sentence
        if len(self.sentences) > 8 * self.most:
            self._forget()

    def _forget(self) -> None:
        """Drop sentences that no logged error needs."""
        kept = {error.sentence for error in (*self.first, *self.suspects)}
        kept |= {suspect.sentence for suspect in self.entity_suspects}
        self.sentences = {number: self.sentences[number] for number in kept}


def suspicion(error: Error) -> tuple[float, ...]:
    """Return the sort key of an error: the least probable gold tags first.

    If the model is sure of other tags, either the model or the annotator is wrong.
    """
    return error.gold_probability, -error.predicted_probability, error.sentence, error.first


@dataclass
class Results:
    """Results of a run over N sentences with M words in total."""

    tagger: Tagger
    lengths: NDArray[np.int32]  # (N,) words of each sentence
    shapes: NDArray[np.int8]  # (M,) index into `crfviz.taggers.features.SHAPES`
    seen: NDArray[np.int8] | None  # (M,) index into SEEN; None: the tagger has no lexicon
    longest_trained: int | None  # words of the longest training sentence; None without a lexicon
    gold: NDArray[np.int16]  # (M,) tag ids
    tags: dict[str, NDArray[np.int16]]  # (M,) by decoder
    token_probability: NDArray[np.float64]  # (M,) the largest marginal
    gold_probability: NDArray[np.float64]  # (M,) the marginal of the gold tag
    path_probability: NDArray[np.float64]  # (N,) of the Viterbi path
    gold_log_probability: NDArray[np.float64]  # (N,) log p(gold path | words); -inf: forbidden
    gold_rank: NDArray[np.int16]  # (N,) rank of gold among the best paths, from 0; -1: beyond 8
    search_errors: dict[str, int]  # sentences whose path scores less than the best, by decoder
    log: ErrorLog  # of Viterbi's errors
    entity_probability: NDArray[np.float64]  # (E,) exact, of Viterbi's entities; may be empty
    entity_right: NDArray[np.bool_]  # (E,) whether gold has them
    batches: list[int]  # sentences of every batch
    seconds: dict[str, list[float]]  # of every batch: "scoring" and every decoder
    rule: str | None = None  # pattern of `RULE`, see `crfviz.chain.patterns`
    unmatched: int = 0  # sentences without a matching path: `RULE` uses Viterbi's there
    costs: Costs | None = None  # of `LEAST_COST`
    # by unit and level: what calibrated sets cover, see `crfviz.corpus.run.sets`
    sets: dict[tuple[str, float], list[list[int]]] = field(default_factory=dict)

    @property
    def decoders(self) -> tuple[str, ...]:
        return tuple(self.tags)

    @property
    def num_sentences(self) -> int:
        return len(self.lengths)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The number of each word's sentence: (M,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def right(self, decoder: str) -> NDArray[np.bool_]:
        """Return whether each word is tagged as in gold: (M,)."""
        return np.equal(self.tags[decoder], self.gold)

    def sentences_right(self, decoder: str) -> NDArray[np.bool_]:
        """Return whether every word of each sentence is tagged as in gold: (N,)."""
        wrong = np.bincount(self.owners[~self.right(decoder)], minlength=len(self.lengths))
        return np.equal(wrong, 0)

    def names(self, ids: NDArray[np.int16]) -> list[list[str]]:
        """Return the tag names of every sentence, from (M,) ids."""
        named = [self.tagger.tags[tag] for tag in ids.tolist()]
        ends = np.cumsum(self.lengths).tolist()
        return [
            named[end - length : end]
            for end, length in zip(ends, self.lengths.tolist(), strict=True)
        ]
