"""Our inference beside that of others, in one process on one core, and how it grows.

    OMP_NUM_THREADS=1 taskset -c 1 python benchmarks/peers.py [--rounds 15]

First all must agree; then they run in rounds, each round in an order of its own, and what counts is
the median of the ratios of the rounds, in processor time of the one thread. So a busy machine
changes the times and hardly the ratios. In a round each works once right after the other, with
caches full of what the other needs, which is what has to be met, and then in a row. With --gpu,
training and decoding of 256 sentences are measured there, by the clock on the wall, and what the
CPU gave last stays as it is. Where compiled loops answer, with the extra `crfviz[fast]`, ours has
two turns in a round, with them and without. The floor is what the machine needs at least: for sums
the products and exponentials alone, for best paths a compiled loop without checks, ties or masks.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numba
import numpy as np
import torch
import torchcrf
from hmmlearn import _hmmc
from numpy.typing import NDArray

from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import k_best, viterbi
from crfviz.chain.engine import compiled, kernel_cache
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials

OUT = Path(__file__).with_name("peers.json")
AGAIN = 5  # times in a row, of which the median counts
CLOSE = {np.dtype("float64"): 1e-8, np.dtype("float32"): 2e-2}
LENGTH = 40
SIZES = {  # where nothing but the work counts: the first steps are of fixed cost
    "T, words": (8, (200, 400, 800, 1600), 17),
    "B, sentences": ((128, 256, 512, 1024), 40, 17),
    "K, tags": (16, 20, (216, 324, 486, 729)),
}
Work = Callable[[], Any]
Table = NDArray[np.float64]


@dataclass(frozen=True)
class Race:
    """One piece of work, done by us and by somebody else."""

    work: str
    against: str
    tags: int
    wanted: float
    ours: Work
    theirs: Work
    loops: bool = False  # whether compiled loops do ours, if they can be had
    floor: Work | None = None  # the least that this takes


@dataclass(frozen=True)
class Row:
    """What came of it: medians for "ours", "loops" (ours by compiled loops), "theirs", "floor"."""

    work: str
    against: str
    tags: int
    wanted: float
    times: Mapping[str, float]  # microseconds: in turn, of the floor in a row
    faster: Mapping[str, Sequence[float]]  # theirs / ours, in turn and in a row, of all rounds
    over_floor: Mapping[str, Sequence[float]]  # ours / floor, in the same way

    @property
    def met(self) -> str:
        """Whether it is as fast as wanted."""
        if self.faster["ours"][0] >= self.wanted:
            return "yes"
        return "with `fast`" if self.faster.get("loops", (0.0,))[0] >= self.wanted else "no"


class Batch:
    """Sentences of T/4 to T words, the longest first, with one chain for all who take part."""

    def __init__(self, B: int, T: int, K: int, dtype: torch.dtype = torch.float64) -> None:
        generator = torch.Generator().manual_seed(B + T + K)

        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        self.emissions = (1.5 * normal(B, T, K)).to(dtype)
        lengths = torch.randint(max(1, T // 4), T + 1, (B,), generator=generator)
        lengths[0] = T
        self.mask = torch.arange(T) < lengths.sort(descending=True).values[:, None]
        self.tags = torch.randint(K, (B, T), generator=generator)
        self.ours = CRF(K).to(dtype)
        self.theirs = torchcrf.CRF(K, batch_first=True).to(dtype)
        with torch.no_grad():
            for parameter in self.ours.parameters():
                parameter.copy_(normal(*parameter.shape))
        self.theirs.load_state_dict(self.ours.state_dict())

    def to(self, device: str) -> Batch:
        """The same there."""
        self.emissions, self.mask = self.emissions.to(device), self.mask.to(device)
        self.tags, self.ours, self.theirs = (
            x.to(device) for x in (self.tags, self.ours, self.theirs)
        )
        return self

    def train(self, layer: torch.nn.Module, loss: Callable[..., torch.Tensor]) -> list[Any]:
        """The loss, and its gradient to everything."""
        emissions = self.emissions.clone().requires_grad_()
        layer.zero_grad()
        value = loss(emissions, self.tags, self.mask).sum()
        value.backward()
        return [value, emissions.grad, *(parameter.grad for parameter in layer.parameters())]

    def for_hmm(self) -> tuple[Table, Table, list[Table]]:
        """Start and transitions as weights, and the log weights of each sentence's words."""
        start, end, moves = (weights.detach().double().numpy() for weights in self.weights())
        lengths = self.mask.sum(1).tolist()
        words = [
            table[:n].double().numpy().copy()
            for table, n in zip(self.emissions, lengths, strict=True)
        ]
        for table in words:
            table[-1] += end
        return np.exp(start), np.exp(moves), words

    def products(self) -> Work:
        """The products of both directions, one call each, and the exponentials, in kept arrays."""
        scores, moves = self.emissions[self.mask].double().numpy(), self.for_hmm()[1]
        ahead, back = moves.copy(), np.ascontiguousarray(moves.T)
        rooms = [(np.ones((n, len(moves))), np.ones((n, len(moves)))) for n in self.mask.sum(0)]
        words, steps = np.empty_like(scores), np.empty_like(moves)

        def work() -> None:
            np.exp(scores, out=words)
            np.exp(moves, out=steps)
            for here, there in rooms:
                np.dot(here, ahead, out=there)
                np.dot(here, back, out=there)

        return work

    def loop(self) -> Work:
        """The best path of each sentence by the compiled loop `_max_plus`."""
        start, _, moves = (weights.detach().double().numpy() for weights in self.weights())
        words, lengths = self.emissions.double().numpy(), self.mask.sum(1).numpy()
        best, path = np.empty(words.shape[1:]), np.empty(words.shape[:2], np.int64)
        return lambda: _max_plus(words, lengths, start, moves, best, path)

    def weights(self) -> list[torch.Tensor]:
        """Start, end and transitions."""
        return [self.ours.start_transitions, self.ours.end_transitions, self.ours.transitions]

    def chain(self) -> Potentials:
        """The first sentence, checked anew as for every sentence."""
        start, end, transitions = (weights.detach() for weights in self.weights())
        return Potentials(self.emissions[0], transitions, start, end)


@numba.njit(fastmath=True)
def _max_plus(
    words: Table, lengths: Table, start: Table, moves: Table, best: Table, path: Table
) -> None:
    """Fill in the best path of each sentence: words (B, T, K), best (T, K), path (B, T)."""
    K = len(start)
    for b in range(len(words)):
        best[0] = start + words[b, 0]
        for t in range(1, lengths[b]):
            for k in range(K):
                best[t, k] = best[t - 1, 0] + moves[0, k]
            for j in range(1, K - 3, 4):  # from four tags before it at a time
                p, q = best[t - 1, j], best[t - 1, j + 1]
                r, s = best[t - 1, j + 2], best[t - 1, j + 3]
                for k in range(K):
                    one = max(moves[j, k] + p, moves[j + 1, k] + q)
                    two = max(moves[j + 2, k] + r, moves[j + 3, k] + s)
                    best[t, k] = max(best[t, k], max(one, two))
            for j in range((K - 1) // 4 * 4 + 1, K):
                for k in range(K):
                    best[t, k] = max(best[t, k], best[t - 1, j] + moves[j, k])
            for k in range(K):
                best[t, k] += words[b, t, k]
        path[b, lengths[b] - 1] = best[lengths[b] - 1].argmax()
        for t in range(lengths[b] - 1, 0, -1):
            path[b, t - 1] = (best[t - 1] + moves[:, path[b, t]]).argmax()


def main() -> None:
    """Measure, print, and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--gpu", action="store_true", help="measure there, and nothing else")
    options = parser.parse_args()
    torch.set_num_threads(1)
    kernel_cache.fill()
    warnings.filterwarnings("ignore", message="where received a uint8")
    record = json.loads(OUT.read_text())
    if options.gpu:
        rows = [measured(race, options.rounds, _clock_of_gpu) for race in races_on_gpu()]
        record["gpu"] = [asdict(row) for row in rows]
    else:
        rows = [measured(race, options.rounds, time.thread_time) for race in races()]
        record |= {"rows": [asdict(row) for row in rows], "growth": growth()}
    OUT.write_text(json.dumps(record, indent=2) + "\n")
    sys.stdout.write(text(record) + "\n")


def races() -> Iterator[Race]:
    """All of them, on the CPU."""
    for K in (17, 50):
        for dtype, wanted in ((torch.float64, (10, 15)), (torch.float32, (8, 9))):
            name = str(dtype).removeprefix("torch.")
            work = f"training step, 32 sentences, {name}"
            yield training(Batch(32, LENGTH, K, dtype), work, wanted[K == 50])
        yield decoding(Batch(64, LENGTH, K), "best paths, 64 sentences", 7 if K == 17 else 14)
        for way in ("log", "scaling"):
            yield marginals(Batch(32, LENGTH, K), "marginals, 32 sentences", way, 3.3)
    for marginal in (True, False):
        yield one_sentence(Batch(1, LENGTH, 17), 12, marginal=marginal)
    for way in ("log", "scaling"):
        yield marginals(Batch(1, 2000, 17), "marginals, 2,000 words", way, 2.5)
    yield ten_best(Batch(1, LENGTH, 17), 4)


def races_on_gpu() -> Iterator[Race]:
    """Training and decoding of more sentences."""
    for K in (17, 50):
        name = torch.cuda.get_device_name()
        batch = Batch(256, LENGTH, K, torch.float32).to("cuda")
        yield training(batch, f"training step, 256 sentences, float32, {name}", 5)
        yield decoding(batch, f"best paths, 256 sentences, float32, {name}", 5)


def training(batch: Batch, work: str, wanted: float) -> Race:
    """Likelihood, and the gradient to emissions and weights."""

    def theirs(emissions: torch.Tensor, tags: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = batch.theirs(emissions, tags, mask, reduction="none")
        return found

    return Race(
        work=work,
        against="pytorch-crf",
        tags=batch.ours.num_tags,
        wanted=wanted,
        ours=lambda: batch.train(batch.ours, batch.ours.log_likelihood),
        theirs=lambda: batch.train(batch.theirs, theirs),
        loops=not batch.emissions.is_cuda,
        floor=None if batch.emissions.is_cuda else batch.products(),
    )


def decoding(batch: Batch, work: str, wanted: float) -> Race:
    """The best path of each sentence."""
    return Race(
        work=work,
        against="pytorch-crf",
        tags=batch.ours.num_tags,
        wanted=wanted,
        ours=lambda: batch.ours.decode(batch.emissions, batch.mask),
        theirs=lambda: batch.theirs.decode(batch.emissions, batch.mask),
        loops=not batch.emissions.is_cuda,
        floor=None if batch.emissions.is_cuda else batch.loop(),
    )


def marginals(batch: Batch, work: str, way: str, wanted: float) -> Race:
    """The probability of each tag at each word, by one of the two implementations of hmmlearn."""
    start, moves, words = batch.for_hmm()
    mask = batch.mask

    def by_logarithms(scores: Table) -> Table:
        _, alpha = _hmmc.forward_log(start, moves, scores)
        table = alpha + _hmmc.backward_log(start, moves, scores)
        table = np.exp(table - table.max(1, keepdims=True))
        return np.asarray(table / table.sum(1, keepdims=True))

    def by_scaling(scores: Table) -> Table:
        weights = np.exp(scores)
        _, alpha, scaling = _hmmc.forward_scaling(start, moves, weights)
        table = alpha * _hmmc.backward_scaling(start, moves, weights, scaling)
        return np.asarray(table / table.sum(1, keepdims=True))

    one = by_logarithms if way == "log" else by_scaling
    return Race(
        work=work,
        against=f"hmmlearn, {way}",
        tags=batch.ours.num_tags,
        wanted=wanted,
        ours=lambda: batch.ours.marginals(batch.emissions, mask)[mask],
        theirs=lambda: np.concatenate([one(scores) for scores in words]),
        loops=True,
        floor=batch.products(),
    )


def one_sentence(batch: Batch, wanted: float, *, marginal: bool) -> Race:
    """All tables of both recursions, against log Z and the path, or the marginals and the path."""

    def ours() -> list[Any]:
        chain = batch.chain()
        sums, best = forward_backward(chain), viterbi(chain)
        return [sums.marginals if marginal else sums.log_partition, best.path]

    def theirs() -> list[Any]:
        emissions = batch.emissions.clone().requires_grad_(marginal)
        mask = torch.ones_like(batch.mask).T
        total = batch.theirs._compute_normalizer(emissions.transpose(0, 1), mask)
        if marginal:
            total.sum().backward()
        return [emissions.grad if marginal else total, *batch.theirs.decode(batch.emissions)]

    return Race(
        work=f"one sentence of {LENGTH} words, all tables of crfviz",
        against=f"pytorch-crf, {'marginals' if marginal else 'log Z'} and path",
        tags=batch.ours.num_tags,
        wanted=wanted,
        ours=ours,
        theirs=theirs,
        loops=True,
        floor=batch.loop(),
    )


def ten_best(batch: Batch, wanted: float) -> Race:
    """The ten best paths, against the ten best prefixes for every tag, by torch.topk."""
    start, end, moves = (weights.detach() for weights in batch.weights())
    words, k, K = batch.emissions[0], 10, batch.ours.num_tags

    def theirs() -> list[list[int]]:
        best, choices = (start + words[0])[:, None], []  # (K, ranks)
        for word in words[1:]:
            candidates = (best[:, :, None] + moves[:, None]).flatten(0, 1)
            values, chosen = candidates.topk(min(k, len(candidates)), 0)
            choices.append((chosen, best.shape[1]))
            best = values.T + word[:, None]
        place = (best + end[:, None]).flatten().topk(k).indices
        ranks = best.shape[1]
        path = [place // ranks]
        for chosen, before in reversed(choices):
            place = chosen[place % ranks, path[-1]]
            path.append(place // before)
            ranks = before
        found: list[list[int]] = torch.stack(path[::-1], 1).tolist()
        return found

    return Race(
        work=f"ten best paths of {LENGTH} words",
        against="torch.topk for every tag",
        tags=K,
        wanted=wanted,
        ours=lambda: [path.tags for path in k_best(batch.chain(), k)],
        theirs=theirs,
        loops=True,
    )


def measured(race: Race, rounds: int, clock: Callable[[], float]) -> Row:
    """Both in turn, after they have agreed.

    Raises:
        AssertionError: they do not agree.
    """
    works = {"ours": without_loops(race.ours), "theirs": race.theirs}
    if race.loops and compiled.kernels():
        works["loops"] = race.ours
    expected = _numbers(race.theirs())
    for work in works.values():
        for ours, theirs in zip(_numbers(work()), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=CLOSE.get(ours.dtype, 0))
    if race.floor is not None:
        race.floor()  # compiled by its first call
        works["floor"] = race.floor
    times: dict[str, list[float]] = {name: [] for name in works}
    in_a_row: dict[str, list[float]] = {name: [] for name in works}
    dice = random.Random(0)
    for _ in range(rounds):
        for name in dice.sample(list(works), len(works)):
            if name != "theirs" and len(works) > 2:
                race.theirs()  # whom each of the others is to come after
            first, *others = (_taken(works[name], clock) for _ in range(1 + AGAIN))
            times[name].append(first)
            in_a_row[name].append(statistics.median(others))

    both = {name: (times[name], in_a_row[name]) for name in works}
    own = [name for name in ("ours", "loops") if name in works]
    return Row(
        work=race.work,
        against=race.against,
        tags=race.tags,
        wanted=race.wanted,
        times={
            name: round(statistics.median(each[name == "floor"]), 1) for name, each in both.items()
        },
        faster={name: list(map(_ratio, both["theirs"], both[name])) for name in own},
        over_floor={name: list(map(_ratio, both[name], both["floor"])) for name in own}
        if race.floor
        else {},
    )


def without_loops(work: Work) -> Work:
    """The same by arrays alone."""

    def alone() -> object:
        known = compiled.kernels
        compiled.kernels = lambda: None
        try:
            return work()
        finally:
            compiled.kernels = known

    return alone


def _taken(work: Work, clock: Callable[[], float]) -> float:
    begin = clock()
    work()
    return 1e6 * (clock() - begin)


def _ratio(some: Sequence[float], others: Sequence[float]) -> float:
    """The median over all rounds."""
    return round(statistics.median(a / b for a, b in zip(some, others, strict=True)), 2)


def _numbers(result: object) -> list[NDArray[Any]]:
    """What somebody found, as flat arrays."""
    if isinstance(result, torch.Tensor):
        return [result.detach().cpu().numpy().ravel()]
    if isinstance(result, list) and not isinstance(result[0], int):
        return [array for part in result for array in _numbers(part)]
    return [np.asarray(result).ravel()]


def _clock_of_gpu() -> float:
    torch.cuda.synchronize()
    return time.perf_counter()


def growth() -> dict[str, Any]:
    """Time of a training step, ms, by T, B and K, and the exponent of the line through it."""
    found = {}
    for name, shape in SIZES.items():
        sizes = next(part for part in shape if isinstance(part, tuple))
        times = []
        for size in sizes:
            batch = Batch(*(size if isinstance(part, tuple) else part for part in shape))
            work = training(batch, "", 0).ours
            work()
            taken = []
            for _ in range(9):
                begin = time.thread_time()
                work()
                taken.append(time.thread_time() - begin)
            times.append(round(1e3 * min(taken), 3))
        slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
        found[name] = {"sizes": sizes, "ms": times, "exponent": round(float(slope), 2)}
    return found


def text(record: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    lines = [
        "| work | against | K | crfviz (µs) | it (µs) | times as fast | in a row "
        "| with `fast` (µs) | times as fast | in a row | wanted | met |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    rows = [Row(**row) for row in record["rows"] + record.get("gpu", [])]
    lines += [
        f"| {row.work} | {row.against} | {row.tags} | {row.times['ours']:,.0f} "
        f"| {row.times['theirs']:,.0f} | {_shown(row.faster.get('ours'))} "
        f"| {_shown([row.times.get('loops')], ',.0f')} | {_shown(row.faster.get('loops'))} "
        f"| {row.wanted:g} | {row.met} |"
        for row in rows
    ]
    lines += [
        "",
        "| work | K | floor (µs) | crfviz / floor | in a row | with `fast` | in a row |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.work} | {row.tags} | {row.times['floor']:,.0f} "
        f"| {_shown(row.over_floor.get('ours'))} | {_shown(row.over_floor.get('loops'))} |"
        for row in rows
        if row.over_floor
    ]
    exponents = ", ".join(
        f"{name.partition(',')[0]} to the {line['exponent']:.2f}"
        for name, line in record["growth"].items()
    )
    return "\n".join([*lines, "", f"A training step grows with {exponents}."])


def _shown(numbers: Sequence[float | None] | None, form: str = ".1f") -> str:
    cells = numbers or (None, None)
    return " | ".join("–" if number is None else format(number, form) for number in cells)


if __name__ == "__main__":
    main()
