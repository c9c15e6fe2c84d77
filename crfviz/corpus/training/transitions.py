"""Transitions fitted on frozen emissions, and their gain over independent decoding.

A tagger without a CRF scores the tags of each word. With a scale a, and scores of starts, steps and
ends, these are a linear-chain CRF:

    score(y) = start[y_1] + a Σ_t emissions[t, y_t] + Σ_t transitions[y_{t-1}, y_t] + end[y_T]

Minus its mean log-likelihood, plus λ/2 times the sum of squares of starts, steps and ends, is
convex in all of them. L-BFGS finds the minimum.

Source:
    Lafferty, McCallum and Pereira (2001); Koehn (2004) for the paired bootstrap.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from crfviz.chain.array_arguments import chain_of
from crfviz.chain.constraints import constrain
from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine.compiled import long_work
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import require_count, require_number, tag_ids
from crfviz.corpus.metrics import entity_counts, percentiles, resampled, wilson
from crfviz.exceptions import CrfvizError, ShapeError, errors_at
from crfviz.text.schemes import entity_scheme

MINUS = "\N{MINUS SIGN}"
L2 = (1e-4, 1e-3, 1e-2)  # candidates of λ
MAX_STEPS = 60  # maximum L-BFGS steps
SHORT = 63  # words; sentences up to this length share a batch
HELD_OUT = 5  # every fifth sentence is held out to choose λ
Paths = Sequence[Sequence[int] | Sequence[str]]
Report = Callable[[float], object]
Batch = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class FittedTransitions:
    """Fitted transitions, starts and ends, and the scale of the emissions."""

    transitions: Tensor  # (K, K) nats, [from, to]
    start: Tensor  # (K,) nats
    end: Tensor  # (K,) nats
    scale: float  # factor of the emissions
    l2: float  # λ

    def chain(self, potentials: Potentials) -> Potentials:
        """Return the chain of the same emissions, scaled, with these transitions."""
        return Potentials(
            potentials.emissions * self.scale,
            self.transitions,
            start=self.start,
            end=self.end,
            tags=potentials.tags,
            tokens=potentials.tokens,
        )


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
def fit_transitions(
    chains: Sequence[Potentials], paths: Paths, l2: float | None = None
) -> FittedTransitions:
    """Fit transitions and the scale of emissions to the gold paths, by penalised likelihood.

    The chains' own transitions, starts and ends are ignored. A few thousand words take seconds.

    Args:
        chains: chains with the same tags, at least one.
        paths: the gold tags of each chain, as ids or names.
        l2: λ, per sentence; None chooses it from `L2` on held-out sentences.

    Raises:
        ShapeError: chains and paths do not match.
        UnknownTagError: a gold tag is not a tag of the chains.
        CrfvizError: there is no chain, or the emissions forbid a gold tag.
    """
    chains = [chain_of(chain) for chain in chains]
    gold = _ids(chains, paths)
    l2 = _chosen_l2(chains, gold) if l2 is None else require_number("l2", l2, at_least=0.0)
    return _fit(chains, gold, l2)


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
    gold = _ids(chains, paths)
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


def _ids(chains: Sequence[Potentials], paths: Paths) -> list[list[int]]:
    """Return the gold tags as ids.

    Raises:
        CrfvizError: as in `fit_transitions`.
    """
    if not chains:
        raise CrfvizError("expected at least one chain to fit transitions on, got none")
    if len(chains) != len(paths):
        raise ShapeError(f"expected a path for each of {len(chains)} chains, got {len(paths)}")
    names = list(chains[0].tag_names)
    gold = []
    for number, (chain, path) in enumerate(zip(chains, paths, strict=True), start=1):
        if list(chain.tag_names) != names:
            raise ShapeError(f"expected chains with the same tags, got others in chain {number}")
        with errors_at(f"chain {number}"):
            ids = tag_ids(path, names, chain.num_tokens, "the gold path")
        if not torch.isfinite(chain.emissions[torch.arange(len(ids)), ids]).all():
            raise CrfvizError(f"chain {number}: the emissions forbid a gold tag")
        gold.append(ids)
    return gold


def _chosen_l2(chains: Sequence[Potentials], gold: Sequence[Sequence[int]]) -> float:
    if len(chains) < 2 * HELD_OUT:
        return L2[-1]
    held = range(0, len(chains), HELD_OUT)
    rest = [number for number in range(len(chains)) if number % HELD_OUT]
    kept = _batches([chains[n] for n in held], [gold[n] for n in held])

    def loss(l2: float) -> float:
        fitted = _fit([chains[n] for n in rest], [gold[n] for n in rest], l2)
        with torch.no_grad():
            return -float(_log_likelihood(_layer(fitted), kept, fitted.scale))

    return min(L2, key=loss)


def _fit(
    chains: Sequence[Potentials], gold: Sequence[Sequence[int]], l2: float
) -> FittedTransitions:
    batches = _batches(chains, gold)
    crf = CRF(chains[0].num_tags).double()
    scale = torch.ones((), dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.zero_()
    parameters = [*crf.parameters(), scale]
    optimiser = torch.optim.LBFGS(
        parameters,
        max_iter=MAX_STEPS,
        tolerance_grad=1e-5,
        tolerance_change=1e-7,
        history_size=10,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        squares = torch.stack([parameter.square().sum() for parameter in crf.parameters()]).sum()
        loss = l2 / 2 * squares - _log_likelihood(crf, batches, scale) / len(chains)
        loss.backward()  # type: ignore[no-untyped-call] # of torch
        return loss

    optimiser.step(closure)  # type: ignore[no-untyped-call] # of torch
    return FittedTransitions(
        crf.transitions.detach().clone(),
        crf.start_transitions.detach().clone(),
        crf.end_transitions.detach().clone(),
        float(scale.detach()),
        l2,
    )


def _layer(fitted: FittedTransitions) -> CRF:
    crf = CRF(len(fitted.start)).double()
    with torch.no_grad():
        crf.transitions.copy_(fitted.transitions)
        crf.start_transitions.copy_(fitted.start)
        crf.end_transitions.copy_(fitted.end)
    return crf


def _batches(chains: Sequence[Potentials], gold: Sequence[Sequence[int]]) -> list[Batch]:
    """Return batches of sentences of similar length, which saves padding."""
    groups: dict[int, list[int]] = {}
    for number, path in enumerate(gold):
        groups.setdefault(max(SHORT, len(path)).bit_length(), []).append(number)
    return [_batch([chains[n] for n in each], [gold[n] for n in each]) for each in groups.values()]


def _batch(chains: Sequence[Potentials], gold: Sequence[Sequence[int]]) -> Batch:
    """Return emissions (B, T, K), tags (B, T) and mask (B, T)."""
    longest = max(chain.num_tokens for chain in chains)
    emissions = torch.zeros(len(chains), longest, chains[0].num_tags, dtype=torch.float64)
    tags = torch.zeros(len(chains), longest, dtype=torch.long)
    mask = torch.zeros(len(chains), longest, dtype=torch.bool)
    for row, (chain, path) in enumerate(zip(chains, gold, strict=True)):
        emissions[row, : len(path)] = chain.emissions
        tags[row, : len(path)] = torch.tensor(path)
        mask[row, : len(path)] = True
    return emissions, tags, mask


def _log_likelihood(crf: CRF, batches: Sequence[Batch], scale: Tensor | float) -> Tensor:
    sums = [crf.log_likelihood(_scaled(e, scale), tags, mask).sum() for e, tags, mask in batches]
    return torch.stack(sums).sum()


def _scaled(emissions: Tensor, scale: Tensor | float) -> Tensor:
    """Return scaled emissions; forbidden ones stay -inf with gradient 0."""
    forbidden = emissions == -torch.inf
    return (emissions.masked_fill(forbidden, 0.0) * scale).masked_fill(forbidden, -torch.inf)


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
