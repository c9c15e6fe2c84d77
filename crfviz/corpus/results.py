"""A tagger run once over tagged sentences by every decoder, with all that is asked of it later.

| decoder                | scores                | takes                                        |
|------------------------|-----------------------|----------------------------------------------|
| independent            | as trained            | the best emission of each word               |
| left_to_right          | as trained            | the best next tag in turn, never looks back  |
| beam_2, beam_4, beam_8 | with the rules of BIO | the best of 2, 4, 8 prefixes kept at a word  |
| viterbi                | with the rules of BIO | the best path                                |
| max_marginal           | with the rules of BIO | the tag of the largest marginal at each word |

The rules act for taggers whose scheme is BIO. The two greedy decoders work on scores as trained,
so that the sentences in which they break BIO can be counted: that is what the rules are for.

Words of all sentences stand one after the other in flat arrays, M of them: a million words take
about 100 MB. Tags are ids.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.beam import beam
from crfviz.chain.best_paths import best_path, terms
from crfviz.chain.entities import entity_probability
from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.greedy import greedy
from crfviz.chain.k_best import k_best
from crfviz.chain.max_marginal import likeliest
from crfviz.chain.paths import probability
from crfviz.chain.potentials import Potentials
from crfviz.corpus.errors import Error, find_errors
from crfviz.exceptions import FormatError, UnknownTagError
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import spans
from crfviz.text.sentences import Sentence

BEAMS = {"beam_2": 2, "beam_4": 4, "beam_8": 8}  # width by name
EVERY_DECODER = ("independent", "left_to_right", *BEAMS, "viterbi", "max_marginal")
ORACLE_PATHS = 8  # of the k-best oracle
SENTENCES_AT_ONCE = 128
SEARCH_SLACK = 1e-9  # nats: a path that is worse by more is a search error

Report = Callable[[int, int], None]  # sentences done, and of how many; may raise to stop the run


@dataclass
class Results:
    """What came out for N sentences of M words."""

    tagger: Tagger
    sentences: Sequence[Sentence]  # N, with their tags
    gold: NDArray[np.int16]  # (M,) tag ids
    tags: dict[str, NDArray[np.int16]]  # (M,) by decoder
    token_probability: NDArray[np.float64]  # (M,) the largest marginal
    gold_probability: NDArray[np.float64]  # (M,) the marginal of the gold tag
    path_probability: NDArray[np.float64]  # (N,) of the Viterbi path
    gold_log_probability: NDArray[np.float64]  # (N,) log p(gold path | words); -inf: forbidden
    gold_rank: NDArray[np.int16]  # (N,) place of gold among the best paths from 0; -1: beyond 8
    search_errors: dict[str, int]  # sentences whose path scores less than the best, by decoder
    errors: list[Error]  # of Viterbi, in the order of the file
    entities: list[tuple[float, bool]]  # of Viterbi, BIO only: exact probability, and right or not
    seconds: dict[str, float]  # "scoring" and every decoder

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each sentence: (N,)."""
        return np.array([len(sentence.tokens) for sentence in self.sentences], dtype=np.int64)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The sentence of each word: (M,)."""
        return np.repeat(np.arange(len(self.sentences)), self.lengths)

    def right(self, decoder: str) -> NDArray[np.bool_]:
        """Whether each word is tagged as in gold: (M,)."""
        return np.equal(self.tags[decoder], self.gold)

    def sentences_right(self, decoder: str) -> NDArray[np.bool_]:
        """Whether every word of a sentence is: (N,)."""
        wrong = np.bincount(self.owners[~self.right(decoder)], minlength=len(self.sentences))
        return np.equal(wrong, 0)

    def names(self, ids: NDArray[np.int16]) -> list[list[str]]:
        """Tag names of every sentence, of (M,) ids."""
        named = [self.tagger.tags[tag] for tag in ids.tolist()]
        ends = np.cumsum(self.lengths).tolist()
        return [named[end - length : end] for end, length in zip(ends, self.lengths, strict=True)]


def run(tagger: Tagger, sentences: Sequence[Sentence], report: Report | None = None) -> Results:
    """Tag all sentences by every decoder and look for what is wrong.

    Args:
        tagger: whose potentials are decoded.
        sentences: with their tags; at least one.
        report: called after every batch; what it raises ends the run.

    Raises:
        FormatError: there is no sentence, or one without tags.
        UnknownTagError: the sentences have tags that the tagger does not know; names them.
        NoPathError: every path of a sentence is forbidden.
    """
    gold = gold_tags(tagger, sentences)
    found = _Collected(tagger)
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        group = slice(start, start + SENTENCES_AT_ONCE)
        found.add([sentence.tokens for sentence in sentences[group]], gold[group], start)
        if report:
            report(min(group.stop, len(sentences)), len(sentences))
    return Results(
        tagger=tagger,
        sentences=sentences,
        gold=np.concatenate([np.array(tags, dtype=np.int16) for tags in gold]),
        tags={name: np.concatenate(parts) for name, parts in found.tags.items()},
        token_probability=np.concatenate(found.token_probability),
        gold_probability=np.concatenate(found.gold_probability),
        path_probability=np.array(found.path_probability),
        gold_log_probability=np.array(found.gold_log_probability),
        gold_rank=np.array(found.gold_rank, dtype=np.int16),
        search_errors=found.search_errors,
        errors=found.errors,
        entities=found.entities,
        seconds=found.seconds,
    )


def gold_tags(tagger: Tagger, sentences: Sequence[Sentence]) -> list[list[int]]:
    """The ids of the tags to compare with, checked.

    Raises:
        FormatError: there is no sentence, or one without tags.
        UnknownTagError: the sentences have tags that the tagger does not know; names them.
    """
    if not sentences:
        raise FormatError("expected at least one tagged sentence, got none")
    for number, sentence in enumerate(sentences, start=1):
        if sentence.tags is None:
            raise FormatError(f"expected tags to compare with, got none in sentence {number}")
    unknown = unknown_tags(tagger, sentences)
    if unknown:
        raise UnknownTagError(
            f"expected tags that {tagger.name} knows ({', '.join(tagger.tags)}), got "
            f"{', '.join(unknown)}; --map renames and drops entity types"
        )
    ids = {name: number for number, name in enumerate(tagger.tags)}
    return [[ids[tag] for tag in sentence.tags or ()] for sentence in sentences]


def unknown_tags(tagger: Tagger, sentences: Sequence[Sentence]) -> list[str]:
    """Names of tags that the sentences have and the tagger has not, in alphabetical order."""
    used = {tag for sentence in sentences for tag in sentence.tags or ()}
    return sorted(used - set(tagger.tags))


@dataclass
class _Collected:
    """All sentences so far."""

    tagger: Tagger
    tags: dict[str, list[NDArray[np.int16]]] = field(
        default_factory=lambda: {name: [] for name in EVERY_DECODER}
    )
    token_probability: list[NDArray[np.float64]] = field(default_factory=list)
    gold_probability: list[NDArray[np.float64]] = field(default_factory=list)
    path_probability: list[float] = field(default_factory=list)
    gold_log_probability: list[float] = field(default_factory=list)
    gold_rank: list[int] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    entities: list[tuple[float, bool]] = field(default_factory=list)
    search_errors: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EVERY_DECODER, 0))
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("scoring", *EVERY_DECODER), 0.0)
    )

    def add(
        self, sentences: Sequence[tuple[str, ...]], gold: Sequence[list[int]], first: int
    ) -> None:
        """Tag more sentences; `first` is the number of the first one."""
        with self._clock("scoring"):
            chains = self.tagger.potentials_batch(sentences)
        trained = chains
        if self.tagger.scheme:
            trained = self.tagger.potentials_batch(sentences, constrained=False)
        paths: dict[str, list[list[int]]] = {}
        with self._clock("independent"):
            paths["independent"] = [greedy(chain, "independent") for chain in trained]
        with self._clock("left_to_right"):
            paths["left_to_right"] = [greedy(chain, "left_to_right") for chain in trained]
        for name, width in BEAMS.items():
            with self._clock(name):
                paths[name] = [beam(chain, width) for chain in chains]
        with self._clock("viterbi"):
            paths["viterbi"] = [best_path(chain) for chain in chains]
        with self._clock("max_marginal"):
            tables = [forward_backward(chain) for chain in chains]
            paths["max_marginal"] = [likeliest(table.marginals) for table in tables]
        for name, found in paths.items():
            self.tags[name] += [np.array(path, dtype=np.int16) for path in found]
        for index, (chain, table) in enumerate(zip(chains, tables, strict=True)):
            tried = {name: found[index] for name, found in paths.items()}
            self._look(chain, table, tried, gold[index])
            self.errors += find_errors(chain, tried["viterbi"], gold[index], first + index)
            if self.tagger.scheme:
                self.entities += _entities(chain, tried["viterbi"], gold[index])

    def _look(
        self,
        chain: Potentials,
        table: ForwardBackward,
        paths: Mapping[str, list[int]],
        gold: list[int],
    ) -> None:
        """Probabilities and search errors of one sentence."""
        marginals = table.marginals.numpy()
        self.token_probability.append(marginals.max(axis=1))
        self.gold_probability.append(marginals[np.arange(len(gold)), gold])
        best = _score(chain, paths["viterbi"])
        self.path_probability.append(probability(best, table.log_partition))
        self.gold_log_probability.append(min(0.0, _score(chain, gold) - table.log_partition))
        self.gold_rank.append(_rank(chain, gold, paths["viterbi"]))
        for name, path in paths.items():
            if path != paths["viterbi"] and _score(chain, path) < best - SEARCH_SLACK:
                self.search_errors[name] += 1

    @contextmanager
    def _clock(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - started


def _score(chain: Potentials, path: Sequence[int]) -> float:
    return math.fsum(terms(chain, path).all())


def _entities(
    chain: Potentials, best: Sequence[int], gold: Sequence[int]
) -> Iterator[tuple[float, bool]]:
    """Every entity of the best path: its exact probability, and whether it is in gold."""
    found, right = (spans([chain.tag_names[tag] for tag in path]) for path in (best, gold))
    for span in found:
        yield entity_probability(chain, span.type, span.start, span.end - 1), span in right


def _rank(chain: Potentials, gold: list[int], best: list[int]) -> int:
    """Place of gold among the best paths, from 0; -1 where it is not among `ORACLE_PATHS`."""
    if gold == best:
        return 0
    found = [path.tags for path in k_best(chain, ORACLE_PATHS)]
    return found.index(gold) if gold in found else -1
