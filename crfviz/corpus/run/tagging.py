"""Run of a tagger over tagged sentences with every decoder.

| decoder                | scores                | takes                                        |
|------------------------|-----------------------|----------------------------------------------|
| independent            | as trained            | the best emission of each word               |
| left_to_right          | as trained            | the best next tag, from left to right        |
| beam_2, beam_4, beam_8 | with the rules of BIO | the best path of a beam of 2, 4, 8 prefixes  |
| viterbi                | with the rules of BIO | the best path                                |
| max_marginal           | with the rules of BIO | the tag of the largest marginal at each word |
| rule, if there is one  | with the rules of BIO | the best path that matches, else Viterbi's   |
| least_cost, with costs | with the rules of BIO | the path of least expected cost              |

The rules apply to taggers whose scheme is BIO. The two greedy decoders use scores as trained, so
that their BIO violations can be counted. Sentences are read one batch at a time, and only those
with a listed error are kept, so a file may be larger than memory.
"""

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.decoding.analysis import beams, greedy_paths, likeliest
from crfviz.chain.decoding.viterbi import best_first, best_paths
from crfviz.chain.distribution import probability, terms
from crfviz.chain.engine.compiled import long_work
from crfviz.chain.engine.packing import ChainsOrBatch, chain_batch
from crfviz.chain.forward_backward import Posterior, posteriors
from crfviz.chain.patterns import automaton
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.questions.costs import Costs, cheapest, cost_matrix
from crfviz.chain.questions.path_sets import Calibration
from crfviz.chain.questions.rules import best_match
from crfviz.corpus.run.errors import EntitySuspect, Error, find_errors, judge_entities
from crfviz.corpus.run.results import (
    BEAMS,
    EVERY_DECODER,
    LEAST_COST,
    MAX_KEPT,
    ORACLE_PATHS,
    RULE,
    ErrorLog,
    Results,
)
from crfviz.corpus.run.sets import count_sets, judged_of, no_sets
from crfviz.exceptions import FormatError, NoPathError, UnknownTagError
from crfviz.taggers.answers import Answers
from crfviz.taggers.features import shape
from crfviz.taggers.lexicon import Lexicon, read_lexicon
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import entity_scheme
from crfviz.text.sentences import Sentence

SCORING_BATCH = 128  # sentences of similar length, scored without a pause
AS_TRAINED = ("independent", "left_to_right")
SENTENCES_AT_ONCE = 512
PROBABILITIES = ("token", "gold", "path", "log gold", "entity")
SEARCH_SLACK = 1e-9  # nats; a path that scores less by more is a search error


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Sentences with their chains, and the scoring time."""

    sentences: Sequence[Sentence]
    chains: list[Potentials]
    trained: list[Potentials]  # the chains without the rules of BIO
    seconds: float  # time of scoring


def score_sentences(
    tagger: Tagger, sentences: Sequence[Sentence], pause: Callable[[], object] = lambda: None
) -> ScoredBatch:
    """Score sentences in batches of similar length, which saves padding."""
    order = sorted(range(len(sentences)), key=lambda index: len(sentences[index].tokens))
    chains, trained, seconds = dict[int, Potentials](), dict[int, Potentials](), 0.0
    for start in range(0, len(order), SCORING_BATCH):
        started = time.perf_counter()
        group = order[start : start + SCORING_BATCH]
        words = [sentences[index].tokens for index in group]
        potentials = tagger.potentials_batch(words)
        chains |= zip(group, potentials, strict=True)
        if tagger.scheme:
            potentials = tagger.potentials_batch(words, constrained=False)
        trained |= zip(group, potentials, strict=True)
        seconds += time.perf_counter() - started
        pause()
    places = range(len(sentences))
    return ScoredBatch(
        sentences, [chains[i] for i in places], [trained[i] for i in places], seconds
    )


Decode = Callable[[ChainsOrBatch], list[list[int]]]
DECODE: Mapping[str, Decode] = {  # the decoders that need no marginals
    "independent": partial(greedy_paths, how="independent"),
    "left_to_right": partial(greedy_paths, how="left_to_right"),
    **{name: partial(beams, width=width) for name, width in BEAMS.items()},
    "viterbi": best_paths,
}

Progress = Callable[[int, int], None]  # sentences done, all sentences; may raise to stop


@long_work()
def run(
    tagger: Tagger,
    sentences: Iterable[Sentence],
    report: Progress | None = None,
    *,
    rule: str | None = None,
    costs: Costs | None = None,
    calibrations: Sequence[Calibration] = (),
    most_kept: int = MAX_KEPT,
    pause: Callable[[], object] = lambda: None,
) -> Results:
    """Tag all sentences with every decoder, and record the errors.

    The sentences are read twice. `report` is called after every batch; an exception in it ends the
    run. All errors are counted, and at most `most_kept` are listed. Sentences of similar length are
    scored together. `pause` lets a server do other work: it is called after each sentence and each
    decoder of a batch, and a few times during scoring. A `rule` over the tags is one more decoder,
    and so are the `costs` of errors (`crfviz.least_cost`). What the sets of `calibrations` cover is
    counted.
    For `Answers`, which must be those of these sentences, every decoder returns the answers.

    Raises:
        FormatError: there is no sentence, a sentence has no tags, or the rule cannot be read.
        UnknownTagError: sentences or rule have tags that the tagger does not know; names them.
        CrfvizError: the rule needs too many states.
        NoPathError: every path of a sentence is forbidden.
    """
    if rule is not None:
        automaton(rule, tagger.tags)
    table = None if costs is None else cost_matrix(tagger.tags, costs)
    total = checked(tagger, sentences)
    lexicon = read_lexicon(tagger.folder)
    collected = _Collected(tagger, lexicon, ErrorLog(most_kept), pause, rule, table, calibrations)
    rest = iter(sentences)
    for group in iter(lambda: list(islice(rest, SENTENCES_AT_ONCE)), []):
        if isinstance(tagger, Answers):
            first = len(collected.lengths)
            chains = [tagger.chain(first + place) for place in range(len(group))]
            collected.add(ScoredBatch(group, chains, chains, 0.0))
        else:
            collected.add(score_sentences(tagger, group, pause))
        if report:
            report(len(collected.lengths), total)
    return replace(collected.results(), costs=costs)


def checked(tagger: Tagger, sentences: Iterable[Sentence]) -> int:
    """Count the sentences, and reject any that cannot be evaluated."""
    number, used = 0, set[str]()
    for number, sentence in enumerate(sentences, start=1):
        if sentence.tags is None:
            raise FormatError(f"expected tags to compare with, got none in sentence {number}")
        used.update(sentence.tags)
    if number == 0:
        raise FormatError("expected at least one tagged sentence, got none")
    if unknown := sorted(used - set(tagger.tags)):
        raise UnknownTagError(
            f"expected tags that {tagger.name} knows ({', '.join(tagger.tags)}), got "
            f"{', '.join(unknown)}"
        )
    return number


def tag_ids(tagger: Tagger, sentences: Iterable[Sentence]) -> list[list[int]]:
    """Return the ids of the gold tags of every sentence."""
    ids = {name: number for number, name in enumerate(tagger.tags)}
    return [[ids[tag] for tag in sentence.tags or ()] for sentence in sentences]


def unknown_tags(tagger: Tagger, sentences: Iterable[Sentence]) -> list[str]:
    """Return the sentences' tags that the tagger lacks, in alphabetical order."""
    used = {tag for sentence in sentences for tag in sentence.tags or ()}
    return sorted(used - set(tagger.tags))


@dataclass
class _Collected:
    """Accumulated results of all batches."""

    tagger: Tagger
    lexicon: Lexicon | None
    log: ErrorLog
    pause: Callable[[], object]
    rule: str | None
    costs: Array | None  # (K, K)
    calibrations: Sequence[Calibration]
    unmatched: int = 0
    words: dict[str, "array[int]"] = field(default_factory=lambda: defaultdict(lambda: array("h")))
    probabilities: dict[str, "array[float]"] = field(
        default_factory=lambda: defaultdict(lambda: array("d"))
    )
    lengths: list[int] = field(default_factory=list)
    gold_rank: list[int] = field(default_factory=list)
    search_errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    batches: list[int] = field(default_factory=list)  # sentences of every batch
    sets: dict[tuple[str, float], NDArray[np.int64]] = field(
        default_factory=lambda: defaultdict(no_sets)
    )

    @cached_property
    def _has_entities(self) -> bool:
        return entity_scheme(self.tagger.tags) is not None

    def add(self, batch: ScoredBatch) -> None:
        sentences, chains = batch.sentences, batch.chains
        gold = tag_ids(self.tagger, sentences)
        self.seconds["scoring"].append(batch.seconds)
        packed = chain_batch(chains)
        trained = chain_batch(batch.trained) if self.tagger.scheme else packed
        paths: dict[str, list[list[int]]] = {}
        if not self.batches:  # warm up: do not time loading and compiling
            for decode in (*DECODE.values(), posteriors):
                decode(chain_batch(chains[:1]))
        for name, decode in DECODE.items():
            with self._clock(name):
                paths[name] = decode(trained if name in AS_TRAINED else packed)
        with self._clock("max_marginal"):
            sums = posteriors(packed)
            paths["max_marginal"] = [likeliest(posterior.marginals) for posterior in sums]
        if self.rule is not None:
            with self._clock(RULE):
                paths[RULE] = list(map(self._matching, chains, paths["viterbi"]))
        if self.costs is not None:
            with self._clock(LEAST_COST):
                paths[LEAST_COST] = [
                    cheapest(chain, posterior.marginals.numpy() @ self.costs)
                    for chain, posterior in zip(chains, sums, strict=True)
                ]
        if self.calibrations:
            judged = list(judged_of(chains, paths["viterbi"], gold, sums))
            for each in self.calibrations:
                self.sets[each.of, each.level] += count_sets(judged, each)
                self.pause()
        errors = find_errors(chains, paths["viterbi"], gold, sums, len(self.lengths))
        self.pause()
        for index, (chain, posterior) in enumerate(zip(chains, sums, strict=True)):
            tried = {name: of_batch[index] for name, of_batch in paths.items()}
            self._keep(sentences[index], tried, gold[index])
            self._note(sentences[index], chain, paths["viterbi"][index], errors[index])
            self._judge(chain, posterior, tried, gold[index])
            self.lengths.append(len(gold[index]))
            self.pause()
        self.batches.append(len(sentences))

    def _matching(self, chain: Potentials, best: list[int]) -> list[int]:
        """Return the best path that matches the rule; the best of all paths if none does."""
        try:
            return best_match(chain, self.rule or "")
        except NoPathError:
            self.unmatched += 1
            return best

    def _keep(self, sentence: Sentence, paths: Mapping[str, list[int]], gold: list[int]) -> None:
        rows = {"gold": gold, "shape": [shape(word) for word in sentence.tokens], **paths}
        if self.lexicon is not None:
            rows["seen"] = _seen(self.lexicon, sentence)
        for name, row in rows.items():
            self.words[name].extend(row)

    def _note(
        self, sentence: Sentence, chain: Potentials, best: list[int], errors: list[Error]
    ) -> None:
        number, suspects = len(self.lengths), list[EntitySuspect]()
        if self._has_entities:
            gold = self.words["gold"][-len(best) :].tolist()
            judged = judge_entities(chain, best, gold, number)
            self.probabilities["entity"].extend(sure for sure, _ in judged.predicted)
            self.words["entity right"].extend(right for _, right in judged.predicted)
            suspects = judged.suspects
        self.log.add(sentence, errors, suspects)

    def _judge(
        self,
        chain: Potentials,
        posterior: Posterior,
        paths: Mapping[str, list[int]],
        gold: list[int],
    ) -> None:
        kept, best = self.probabilities, paths["viterbi"]
        marginals, score = posterior.marginals.numpy(), terms(chain, best).score
        kept["token"].extend(marginals.max(axis=1).tolist())
        kept["gold"].extend(marginals[np.arange(len(gold)), gold].tolist())
        kept["path"].append(probability(score, posterior.log_partition))
        right = score if gold == best else terms(chain, gold).score
        kept["log gold"].append(min(0.0, right - posterior.log_partition))
        self.gold_rank.append(_rank(chain, gold, best))
        for name, path in paths.items():
            if path != best and terms(chain, path).score < score - SEARCH_SLACK:
                self.search_errors[name] += 1

    def results(self) -> Results:
        ids = {name: np.array(kept, dtype=np.int16) for name, kept in self.words.items()}
        more = [RULE] * (self.rule is not None) + [LEAST_COST] * (self.costs is not None)
        decoders = (*EVERY_DECODER, *more)
        p = {name: np.array(self.probabilities[name]) for name in PROBABILITIES}
        return Results(
            tagger=self.tagger,
            lengths=np.array(self.lengths, dtype=np.int32),
            shapes=ids["shape"].astype(np.int8),
            seen=None if self.lexicon is None else ids["seen"].astype(np.int8),
            longest_trained=None if self.lexicon is None else self.lexicon.longest,
            gold=ids["gold"],
            tags={name: ids[name] for name in decoders},
            token_probability=p["token"],
            gold_probability=p["gold"],
            path_probability=p["path"],
            gold_log_probability=p["log gold"],
            gold_rank=np.array(self.gold_rank, dtype=np.int16),
            search_errors={name: self.search_errors[name] for name in decoders},
            log=self.log,
            entity_probability=p["entity"],
            entity_right=np.array(self.words["entity right"], dtype=np.bool_),
            batches=self.batches,
            seconds=dict(self.seconds),
            rule=self.rule,
            unmatched=self.unmatched,
            sets={unit_and_level: table.tolist() for unit_and_level, table in self.sets.items()},
        )

    @contextmanager
    def _clock(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[what].append(time.perf_counter() - started)
        self.pause()


def _seen(lexicon: Lexicon, sentence: Sentence) -> list[int]:
    """Return the index in `SEEN` of every word."""
    known = [lexicon.tags_of(word) for word in sentence.tokens]
    return [
        2 if not tags else 0 if tag in tags else 1
        for tags, tag in zip(known, sentence.tags or (), strict=True)
    ]


def _rank(chain: Potentials, gold: list[int], best: list[int]) -> int:
    """Return the rank of gold among the best paths, from 0; -1 beyond `ORACLE_PATHS`."""
    if gold == best:
        return 0
    ranked = enumerate(islice(best_first(chain), ORACLE_PATHS))
    return next((rank for rank, path in ranked if path == gold), -1)
