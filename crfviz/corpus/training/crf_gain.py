"""The gain of fitted transitions over independent decoding, cross-validated over sentences.

Source:
    Koehn (2004) for the paired bootstrap.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from crfviz.chain.array_arguments import chain_of
from crfviz.chain.constraints import constrain
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine.compiled import long_work
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import require_count
from crfviz.corpus.metrics import entity_counts, percentiles, resampled, wilson
from crfviz.corpus.training.transitions import (
    FittedTransitions,
    Paths,
    Report,
    fit_transitions,
    gold_ids,
)
from crfviz.exceptions import CrfvizError
from crfviz.text.schemes import entity_scheme

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Score:
    """Scores of one decoder."""

    token_accuracy: float  # in [0, 1]
    interval: tuple[float, float]  # 95 %, Wilson
    entity_f1: float | None  # in [0, 1]; None without BIO or BIOES


@dataclass(frozen=True, eq=False)
class CRFGain:
    """Gain of a CRF layer on held-out sentences.

    `difference`, `interval` and `verdict` are about entity F1 if the tags are BIO or BIOES, else
    about token accuracy.
    """

    independent: Score  # the best tag of each word alone
    rules: Score  # the best path under the rules of BIO or BIOES; else equals `independent`
    fitted: Score  # the best path with fitted transitions
    difference: float  # entity F1, or token accuracy, of `fitted` minus that of `independent`
    interval: tuple[float, float]  # 95 % of the difference, by a paired bootstrap over sentences
    token_difference: float  # the same of token accuracy, whatever the tags
    token_interval: tuple[float, float]  # 95 %
    repaired: tuple[int, ...]  # sentences in which `fitted` has more words right
    spoiled: tuple[int, ...]  # sentences in which `fitted` has fewer words right
    paths: tuple[tuple[int, ...], ...]  # the fitted path of each sentence
    folds: tuple[FittedTransitions, ...]  # transitions that decoded each fold
    fold_of: tuple[int, ...]  # the fold of each sentence

    @property
    def measure(self) -> str:
        """What `difference` is about: entity F1 or token accuracy."""
        return "token accuracy" if self.independent.entity_f1 is None else "entity F1"

    @property
    def verdict(self) -> Literal["adds", "loses", "cannot tell"]:
        """Whether the layer adds or loses; it cannot be told if the interval holds 0."""
        low, high = self.interval
        if low <= 0.0 <= high:
            return "cannot tell"
        return "adds" if self.difference > 0.0 else "loses"

    def __str__(self) -> str:
        """Describe the gain in a sentence or two."""
        ends = " to ".join(map(_points, self.interval))
        where, points = f"On these {len(self.paths):,} sentences", _points(self.difference)
        if self.verdict == "cannot tell":
            text = (
                f"{where} we cannot tell whether a CRF layer adds {self.measure}: "
                f"the difference is {points} points ({ends})"
            )
        else:
            size = points.removeprefix(MINUS)
            text = f"{where} a CRF layer {self.verdict} {size} points of {self.measure} ({ends})"
        before, after = self.independent.entity_f1, self.rules.entity_f1
        if before is None or after is None:
            return f"{text}."
        return f"{text}. The rules of the tags alone change it by {_points(after - before)}."


def _points(share: float) -> str:
    """Return percentage points with one decimal and a minus sign; never a minus zero."""
    points = f"{100 * share:.1f}"
    return "0.0" if points == "-0.0" else points.replace("-", MINUS)


@long_work()
def crf_gain(
    chains: Sequence[Potentials],
    paths: Paths,
    folds: int = 5,
    seed: int = 0,
    report: Report = lambda _: None,
) -> CRFGain:
    """Return the gain of fitted transitions, cross-validated over sentences.

    Args:
        chains: chains with the same tags, at least `folds`; only their emissions are used.
        paths: the gold tags of each chain, as ids or names.
        folds: at least 2; the sentences of each are decoded by transitions fitted on all others.
        seed: seed of the folds and of the bootstrap.
        report: called with the finished share, in [0, 1].

    Raises:
        CrfvizError: as in `fit_transitions`, or there are fewer than 2 folds or more than chains.
    """
    chains = [chain_of(chain) for chain in chains]
    gold = gold_ids(chains, paths)
    folds, seed = require_count("folds", folds), require_count("seed", seed, at_least=0)
    if not 2 <= folds <= len(chains):
        raise CrfvizError(f"expected 2 to {len(chains)} folds for so many chains, got {folds}")
    order = np.random.default_rng(seed).permutation(len(chains))
    fitted: list[list[int]] = [[]] * len(chains)
    fold_of = [0] * len(chains)
    fits: list[FittedTransitions] = []
    l2: float | None = None  # chosen without the first fold
    for fold in range(folds):
        held = set(order[fold::folds].tolist())
        rest = [number for number in range(len(chains)) if number not in held]
        own = fit_transitions([chains[n] for n in rest], [gold[n] for n in rest], l2)
        l2 = own.l2
        fits.append(own)
        for number in held:
            fitted[number] = viterbi(own.chain(chains[number])).path
            fold_of[number] = fold
        report((fold + 1) / folds)
    alone = [[int(tag) for tag in chain.emissions.argmax(1)] for chain in chains]
    ruled = list(_ruled(chains, alone))
    rights = np.array(
        [
            [sum(a == b for a, b in zip(path, right, strict=True)) for path in (x, y)]
            + [len(right)]
            for x, y, right in zip(alone, fitted, gold, strict=True)
        ]
    )
    more = rights[:, 1] - rights[:, 0]
    names = chains[0].tag_names
    scheme = entity_scheme(names)
    token_difference, token_interval = _difference(
        rights, lambda n: (n[:, 1] - n[:, 0]) / n[:, 2], seed
    )
    difference, interval = token_difference, token_interval
    if scheme is not None:
        counts = np.hstack([_entities(side, gold, names, scheme) for side in (alone, fitted)])
        difference, interval = _difference(counts, lambda n: _f1(n[:, 3:]) - _f1(n[:, :3]), seed)
    return CRFGain(
        independent=_score(alone, gold, names),
        rules=_score(ruled, gold, names),
        fitted=_score(fitted, gold, names),
        difference=difference,
        interval=interval,
        token_difference=token_difference,
        token_interval=token_interval,
        repaired=tuple(np.flatnonzero(more > 0).tolist()),
        spoiled=tuple(np.flatnonzero(more < 0).tolist()),
        paths=tuple(map(tuple, fitted)),
        folds=tuple(fits),
        fold_of=tuple(fold_of),
    )


Counts = NDArray[np.int64]  # (N, C), or sums of them


def _difference(
    counts: Counts, measure: Callable[[Counts], NDArray[np.float64]], seed: int
) -> tuple[float, tuple[float, float]]:
    """Return a measure of summed counts (N, C), and its interval over samples of sentences."""
    sampled = resampled(counts, np.random.default_rng(seed))
    return float(measure(counts.sum(0, keepdims=True))[0]), percentiles(measure(sampled))


def _entities(
    paths: Sequence[Sequence[int]], gold: Sequence[Sequence[int]], names: Sequence[str], scheme: str
) -> Counts:
    """Return (N, 3) right, predicted and gold entities of each sentence."""
    right, guess = ([[names[tag] for tag in path] for path in side] for side in (gold, paths))
    none = np.zeros((len(gold), 3), dtype=np.int64)
    return sum(entity_counts(right, guess, scheme).values(), none)


def _f1(counts: Counts) -> NDArray[np.float64]:
    """Return F1 of (S, 3) counts; 0 without gold or predicted entities."""
    shares: NDArray[np.float64] = 2 * counts[:, 0] / np.maximum(1, counts[:, 1] + counts[:, 2])
    return shares


def _ruled(chains: Sequence[Potentials], alone: Sequence[Sequence[int]]) -> Iterator[Sequence[int]]:
    """Yield the best paths under the rules of the scheme alone, without transition scores."""
    K = chains[0].num_tags
    if entity_scheme(chains[0].tag_names) is None:
        yield from alone
        return
    for chain in chains:
        free = replace(
            chain,
            transitions=torch.zeros(K, K, dtype=torch.float64),
            start=torch.zeros(K, dtype=torch.float64),
            end=torch.zeros(K, dtype=torch.float64),
        )
        yield viterbi(constrain(free)).path


def _score(
    paths: Sequence[Sequence[int]], gold: Sequence[Sequence[int]], names: Sequence[str]
) -> Score:
    right = sum(a == b for x, y in zip(paths, gold, strict=True) for a, b in zip(x, y, strict=True))
    rate = wilson(right, sum(map(len, gold)))
    f1, scheme = None, entity_scheme(names)
    if scheme is not None:
        counts = _entities(paths, gold, names, scheme).sum(0, keepdims=True)
        f1 = float(_f1(counts)[0])
    return Score(rate.value, (rate.low, rate.high), f1)
