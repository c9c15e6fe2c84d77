"""Sentences of different lengths as one padded batch, and α of all of them in one sweep.

A sentence that has ended is held still: its column repeats the one before, so that the last column
holds the result of every sentence. What stands at padding has no influence.

Letters: `B` sentences, `T` tokens of the longest, `K` tags.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import EmptySentenceError, ShapeError


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """A batch, its forward table, and what each sentence gives alone."""

    emissions: Tensor  # (B, T, K) nats, 0 at padding
    mask: Tensor  # (B, T) bool, True at words
    lengths: list[int]  # B
    log_alpha: Tensor  # (B, T, K) nats, held still after the end
    log_partitions: Tensor  # (B,) nats
    alone: Tensor  # (B,) log Z of each sentence on its own, nats
    largest_difference: float  # of any α at a word and any log Z, batch against alone


def padded_batch(sentences: Sequence[Potentials]) -> PaddedBatch:
    """Pad the sentences to the longest and run the batched forward recursion over them.

    Raises:
        EmptySentenceError: there is no sentence.
        ShapeError: they differ in their number of tags.
    """
    if not sentences:
        raise EmptySentenceError("expected at least one sentence in the batch, got none")
    K = sentences[0].num_tags
    if any(one.num_tags != K for one in sentences):
        raise ShapeError(f"expected {K} tags in every sentence of the batch")
    lengths = [one.num_tokens for one in sentences]
    T = max(lengths)
    mask = torch.arange(T)[None, :] < torch.tensor(lengths)[:, None]
    emissions = torch.stack([_padded(one.emissions.detach(), T) for one in sentences])
    steps = torch.stack(
        [_padded(one.steps.detach(), T - 1) for one in sentences], 1
    )  # (T-1, B, K, K)
    start = torch.stack([one.start.detach() for one in sentences])
    end = torch.stack([one.end.detach() for one in sentences])
    log_alpha = recursions.forward(emissions, steps, start, mask)
    log_partitions = recursions.logsumexp(log_alpha[:, -1] + end, -1)
    singles = [forward_backward(one) for one in sentences]
    alone = torch.tensor([one.log_partition for one in singles], dtype=torch.float64)
    pairs = [(log_partitions, alone)]
    pairs += [
        (row[:length], one.log_alpha)
        for row, length, one in zip(log_alpha, lengths, singles, strict=True)
    ]
    return PaddedBatch(
        emissions=emissions,
        mask=mask,
        lengths=lengths,
        log_alpha=log_alpha,
        log_partitions=log_partitions,
        alone=alone,
        largest_difference=max(_difference(batch, single) for batch, single in pairs),
    )


def _padded(table: Tensor, rows: int) -> Tensor:
    """The table with rows of zeros after its end."""
    return torch.cat([table, table.new_zeros(rows - len(table), *table.shape[1:])])


def _difference(batch: Tensor, single: Tensor) -> float:
    """The largest difference of two tables; equal infinities differ by 0."""
    gaps = torch.where(batch == single, 0.0, (batch - single).abs())
    return float(gaps.max())
