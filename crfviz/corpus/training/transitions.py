"""Transitions fitted on frozen emissions.

A tagger without a CRF scores the tags of each word. With a scale a, and scores of starts, steps and
ends, these are a linear-chain CRF:

    score(y) = start[y_1] + a Σ_t emissions[t, y_t] + Σ_t transitions[y_{t-1}, y_t] + end[y_T]

Minus its mean log-likelihood, plus λ/2 times the sum of squares of starts, steps and ends, is
convex in all of them. L-BFGS finds the minimum.

Source:
    Lafferty, McCallum and Pereira (2001).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain.array_arguments import chain_of
from crfviz.chain.crf import CRF
from crfviz.chain.engine.compiled import long_work
from crfviz.chain.potentials import Potentials
from crfviz.chain.validation import require_number, tag_ids
from crfviz.exceptions import CrfvizError, ShapeError, errors_at

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
    gold = gold_ids(chains, paths)
    l2 = _chosen_l2(chains, gold) if l2 is None else require_number("l2", l2, at_least=0.0)
    return _fit(chains, gold, l2)


def gold_ids(chains: Sequence[Potentials], paths: Paths) -> list[list[int]]:
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
