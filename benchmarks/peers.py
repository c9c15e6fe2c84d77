"""Our inference beside that of others, in one process on one core, and how it grows.

    OMP_NUM_THREADS=1 taskset -c 1 python benchmarks/peers.py [--rounds 15]

First all must agree; then they run in rounds, each round in an order of its own, and what counts is
the median of the ratios of the rounds, in processor time of the one thread. So a busy machine
changes the times and hardly the ratios. In a round each works once right after the other, with
caches full of what the other needs, which is what has to be met, and then in a row. With --gpu,
training and decoding of 256 sentences are measured there, by the clock on the wall, and what the
CPU gave last stays as it is. Where compiled loops answer, with the extra `crfviz[fast]`, ours has
two turns in a round, with them and without.
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

import numpy as np
import torch
import torchcrf
from hmmlearn import _hmmc
from numpy.typing import NDArray

from crfviz.chain.crf import CRF
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.engine import compiled
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


@dataclass(frozen=True)
class Row:
    """What came of it; times are medians in microseconds."""

    work: str
    against: str
    tags: int
    ours: float
    theirs: float
    ratio: float  # median of theirs / ours in one round, each right after the other
    wanted: float
    again: float | None = None  # the ratio in a row; None where it was not measured
    with_loops: float | None = None  # ours by compiled loops; None where there are none
    ratio_with_loops: float | None = None
    again_with_loops: float | None = None

    @property
    def met(self) -> str:
        """Whether it is as fast as wanted."""
        if self.ratio >= self.wanted:
            return "yes"
        return "with `fast`" if (self.ratio_with_loops or 0.0) >= self.wanted else "no"


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

    def weights(self) -> list[torch.Tensor]:
        """Start, end and transitions."""
        return [self.ours.start_transitions, self.ours.end_transitions, self.ours.transitions]

    def chain(self) -> Potentials:
        """The first sentence, checked anew as for every sentence."""
        start, end, transitions = (weights.detach() for weights in self.weights())
        return Potentials(self.emissions[0], transitions, start, end)


def main() -> None:
    """Measure, print, and write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--gpu", action="store_true", help="measure there, and nothing else")
    options = parser.parse_args()
    torch.set_num_threads(1)
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
    times: dict[str, list[float]] = {name: [] for name in works}
    in_a_row: dict[str, list[float]] = {name: [] for name in works}
    dice = random.Random(0)
    for _ in range(rounds):
        for name in dice.sample(list(works), len(works)):
            if name != "theirs" and len(works) > 2:
                race.theirs()  # whom each of ours is to come after
            first, *others = (_taken(works[name], clock) for _ in range(1 + AGAIN))
            times[name].append(first)
            in_a_row[name].append(statistics.median(others))

    def ratio(name: str, among: dict[str, list[float]]) -> float | None:
        return _times_as_fast(among[name], among["theirs"]) if name in among else None

    return Row(
        work=race.work,
        against=race.against,
        tags=race.tags,
        ours=round(statistics.median(times["ours"]), 1),
        theirs=round(statistics.median(times["theirs"]), 1),
        ratio=_times_as_fast(times["ours"], times["theirs"]),
        wanted=race.wanted,
        again=ratio("ours", in_a_row),
        with_loops=round(statistics.median(times["loops"]), 1) if "loops" in times else None,
        ratio_with_loops=ratio("loops", times),
        again_with_loops=ratio("loops", in_a_row),
    )


def without_loops(work: Work) -> Work:
    """The same by arrays alone."""

    def alone() -> object:
        known = compiled.kernels
        compiled.kernels = lambda: None  # type: ignore[assignment]
        try:
            return work()
        finally:
            compiled.kernels = known

    return alone


def _taken(work: Work, clock: Callable[[], float]) -> float:
    """Microseconds."""
    begin = clock()
    work()
    return 1e6 * (clock() - begin)


def _times_as_fast(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return round(statistics.median(b / a for a, b in zip(ours, theirs, strict=True)), 2)


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
    lines += [
        f"| {row.work} | {row.against} | {row.tags} | {row.ours:,.0f} | {row.theirs:,.0f} "
        f"| {row.ratio:.1f} | {_shown(row.again, '.1f')} | {_shown(row.with_loops, ',.0f')} "
        f"| {_shown(row.ratio_with_loops, '.1f')} | {_shown(row.again_with_loops, '.1f')} "
        f"| {row.wanted:g} | {row.met} |"
        for row in (Row(**row) for row in record["rows"] + record.get("gpu", []))
    ]
    exponents = ", ".join(
        f"{name.partition(',')[0]} to the {line['exponent']:.2f}"
        for name, line in record["growth"].items()
    )
    return "\n".join([*lines, "", f"A training step grows with {exponents}."])


def _shown(number: float | None, form: str) -> str:
    return "–" if number is None else format(number, form)


if __name__ == "__main__":
    main()
