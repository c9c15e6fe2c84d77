"""The CRF layer for training: padded batches, on CPU or GPU, in float32 or float64."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crfviz.chain import recursions
from crfviz.chain.engine import compiled
from crfviz.chain.engine.packing import Packed, pack, take_rows
from crfviz.chain.engine.sums import (
    Scores,
    expected_uses,
    gold_score,
    gradient,
    sums,
    with_gradient,
)
from crfviz.chain.engine.viterbi import best_paths
from crfviz.chain.forward_backward import normalise
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    NoPathError,
    ScoreError,
    ShapeError,
    UnknownTagError,
)

MAX_CACHED_CELLS = 4096  # B * T; packing such small batches takes as long as their sums
Rows = Any  # (n, ...) an array, or a tensor on a GPU


@dataclass(frozen=True, eq=False)
class Padded:
    """B sentences in tables of T columns: words first, then padding."""

    mask: Tensor  # (B, T) bool, True at words
    packed: Packed  # arrays, wherever the mask is

    @cached_property
    def on_device(self) -> Packed:
        """The packing, on the device of the mask."""
        return self.packed.on(self.mask.device) if self.mask.is_cuda else self.packed

    def rows(self, table: Tensor) -> Rows:
        """Return the N words of a (B, T, ...) table, (N, ...); floating point becomes float64."""
        return take_rows(numbers(table.flatten(0, 1)), self.on_device.cells)

    def table(self, rows: Rows, dtype: torch.dtype) -> Tensor:
        """Return the (B, T, ...) table with rows at words and zeros at padding."""
        num_cells = self.mask.numel()
        if isinstance(rows, Tensor):
            cells = rows.new_zeros((num_cells, rows.shape[1])).index_copy_(
                0, self.on_device.cells, rows
            )
        else:
            array = np.zeros((num_cells, rows.shape[1]))
            array[self.packed.cells] = rows
            cells = torch.from_numpy(array)
        return cells.view(*self.mask.shape, -1).to(dtype)

    def lists(self, rows: NDArray[np.int64]) -> list[list[int]]:
        """Return B lists with the numbers of each sentence's words."""
        padded = np.zeros(self.mask.numel(), np.int64)
        padded[self.packed.cells] = rows
        lengths = self.packed.by_sentence(self.packed.lengths)
        sentences = padded.reshape(self.mask.shape).tolist()
        return [row[:n] for row, n in zip(sentences, lengths.tolist(), strict=True)]

    def sentences(self, values: Rows) -> Tensor:
        """Reorder (B,) values of places to the original order of the sentences."""
        return torch.as_tensor(self.on_device.by_sentence(values))

    def places(self, values: Tensor) -> Rows:
        """Reorder (B,) values of sentences to the order of the places."""
        return numbers(values)[self.on_device.order]


def pack_mask(mask: Tensor) -> Padded:
    """Return the packing of a batch by its mask (B, T) bool.

    Raises:
        EmptySentenceError: a sentence has no word.
        ShapeError: a word follows padding.
    """
    words = mask.cpu().numpy()
    if words.size > MAX_CACHED_CELLS:
        return Padded(mask, _pack_mask(words))
    return Padded(mask, _pack_mask_cached(words.tobytes(), words.shape))


@lru_cache(maxsize=64)
def _pack_mask_cached(mask: bytes, shape: tuple[int, int]) -> Packed:
    """Pack a mask, given in bytes; cached, because each epoch has the same batches."""
    return _pack_mask(np.frombuffer(mask, np.bool_).reshape(shape))


def _pack_mask(words: NDArray[np.bool_]) -> Packed:
    if words.shape[1] == 0 or not words[:, 0].all():
        raise EmptySentenceError("every sentence of a batch must have at least one word")
    lengths = words.sum(1)
    if not (words == (np.arange(words.shape[1]) < lengths[:, None])).all():
        raise ShapeError("mask must be words first, then padding; got words after padding")
    return pack(lengths, words.shape[1])


def numbers(tensor: Tensor) -> Rows:
    """Return a detached tensor, float64 if floating point; an array if it is on the CPU."""
    values = tensor.detach()
    if values.is_floating_point():
        values = values.double()
    return values if values.is_cuda else values.numpy()


class CRF(nn.Module):
    """A linear-chain CRF over given emissions, with learned transitions.

    The parameters have the names and the meaning of pytorch-crf, so its checkpoints load unchanged.
    Emissions are (B, T, K), tags (B, T) long. A mask (B, T) bool is True at words and False at
    padding, words first; None means that there is no padding. Emissions and tags at padding have no
    influence. Every method raises a ShapeError for a shape that does not match and for a mask with
    words after padding, an EmptySentenceError for a sentence without a word, and a ScoreError for a
    score at a word that is NaN or +inf.

    Source:
        Lafferty, McCallum and Pereira, "Conditional Random Fields" (2001).

    Example:
        >>> crf = CRF(num_tags=3)
        >>> emissions = torch.zeros(2, 5, 3)  # two sentences of up to five words
        >>> mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
        >>> [len(path) for path in crf.decode(emissions, mask)]
        [5, 3]
    """

    def __init__(self, num_tags: int) -> None:
        if num_tags < 1:
            raise CrfvizError(f"num_tags must be at least 1, got {num_tags}")
        super().__init__()
        self.num_tags = num_tags
        self.start_transitions = nn.Parameter(torch.empty(num_tags))
        self.end_transitions = nn.Parameter(torch.empty(num_tags))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))  # from, to
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def extra_repr(self) -> str:
        """Return the arguments that `repr` shows."""
        return f"num_tags={self.num_tags}"

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return log of the probability of each tagging, (B,) nats; -inf where it is forbidden.

        Raises:
            UnknownTagError: a tag at a word is not from 0 to K-1.
        """
        emissions, tags = _tensor(emissions), _tensor(tags)
        batch = self._packed(emissions, mask)
        if tags.dtype is torch.bool or tags.is_floating_point() or tags.is_complex():
            raise UnknownTagError(
                f"tags must be whole numbers from 0 to {self.num_tags - 1}, got {tags.dtype}"
            )
        if tags.shape != batch.mask.shape:
            raise ShapeError(
                f"tags must be {tuple(batch.mask.shape)} to match the emissions,"
                f" got {tuple(tags.shape)}"
            )
        in_log_space = partial(_log_likelihood, tags=tags, mask=batch.mask)
        if fast := self._compiled_likelihood(emissions, tags, batch):
            return with_gradient(*fast, in_log_space, emissions, *self._moves())
        rows, gold = self._rows(emissions, batch), self._gold(tags, batch)
        scores = self._scores(rows)
        path_sums = sums(*scores, batch.on_device)
        if path_sums is None:
            return in_log_space(emissions, *self._moves())
        score = gold_score(scores, path_sums, gold)
        allowed = score > -torch.inf
        dtype = torch.result_type(emissions, self.transitions)
        log_partition = path_sums.log_partition()
        log_partition[~allowed] = 0.0
        score -= log_partition

        def first(weights: Tensor) -> Scores:
            given = batch.places(weights)
            slopes = gradient(path_sums, gold, given, given * allowed)
            tensors = (torch.as_tensor(slope).to(dtype) for slope in slopes[1:])
            return Scores(batch.table(slopes.emissions, emissions.dtype), *tensors)

        value = batch.sentences(score).to(dtype)
        return with_gradient(value, first, in_log_space, emissions, *self._moves())

    def _compiled_likelihood(
        self, emissions: Tensor, tags: Tensor, batch: Padded
    ) -> tuple[Tensor, Callable[[Tensor], Scores]] | None:
        """Return `log_likelihood` and its gradient by compiled loops; None if they do not apply."""
        if emissions.is_cuda or tags.dtype != torch.long:
            return None
        padded = numbers(emissions.flatten(0, 1))
        result = compiled.likelihoods(self._scores(padded), numbers(tags.flatten()), batch.packed)
        if result is None:
            return None
        values, gradient = result
        dtype = torch.result_type(emissions, self.transitions)

        def first(weights: Tensor) -> Scores:
            words, *moves = map(torch.from_numpy, gradient(batch.places(weights)))
            words = words.view(emissions.shape).to(emissions.dtype)
            return Scores(words, *(slope.to(dtype) for slope in moves))

        return batch.sentences(values).to(dtype), first

    def partial_log_likelihood(
        self, emissions: Tensor, allowed: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Return the log-probability of all allowed taggings together, (B,) nats, at most 0.

        It is log Z over the allowed paths minus log Z. With one tag allowed at each word it is the
        log-likelihood of that tagging; with all allowed it is 0, and with none at a word -inf.

        Args:
            emissions: (B, T, K).
            allowed: (B, T, K) bool, the tags that a word may have; ignored at padding.
            mask: (B, T) bool.

        Raises:
            ShapeError: `allowed` is not (B, T, K).

        Source:
            Tsuboi, Kashima, Mori, Oda and Matsumoto, "Training Conditional Random Fields Using
            Incomplete Annotations" (2008), section 4.
        """
        emissions, allowed = _tensor(emissions), _tensor(allowed)
        batch, rows = self._checked(emissions, mask)
        if allowed.shape != emissions.shape:
            raise ShapeError(
                f"allowed must be {tuple(emissions.shape)} to match the emissions,"
                f" got {tuple(allowed.shape)}"
            )
        free = allowed.bool() | ~batch.mask[..., None]
        every = sums(*self._scores(rows), batch.on_device)
        allowed_sums = sums(
            *self._scores(batch.rows(emissions.masked_fill(~free, -torch.inf))), batch.on_device
        )
        in_log_space = partial(_partial_log_likelihood, allowed=free, mask=batch.mask)
        if every is None or allowed_sums is None:
            return in_log_space(emissions, *self._moves())
        score = allowed_sums.log_partition()
        possible = score > -torch.inf
        log_partition = every.log_partition()
        log_partition[~possible] = 0.0
        score = (score - log_partition).clip(max=0.0)  # rounding must not exceed 0
        dtype = torch.result_type(emissions, self.transitions)

        def first(weights: Tensor) -> Scores:
            given = batch.places(weights) * possible
            both = zip(expected_uses(allowed_sums, given), expected_uses(every, given), strict=True)
            slopes = Scores(*(mine - all_ for mine, all_ in both))
            tensors = (torch.as_tensor(slope).to(dtype) for slope in slopes[1:])
            return Scores(batch.table(slopes.emissions, emissions.dtype), *tensors)

        value = batch.sentences(score).to(dtype)
        return with_gradient(value, first, in_log_space, emissions, *self._moves())

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """Return the best path of each sentence, as `viterbi` does, in float64: B lists of tag ids.

        Raises:
            NoPathError: every path of a sentence is forbidden.
        """
        batch, rows = self._checked(_tensor(emissions), mask)
        tags, allowed = best_paths(*self._scores(rows), batch.packed)
        if not allowed.all():
            blocked = batch.packed.order[~allowed].min()
            raise NoPathError(f"every path of sentence {blocked} is forbidden")
        return batch.lists(tags)

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the probability of each tag at each word, (B, T, K).

        Rows of words sum to 1, rows of padding and of sentences without an allowed path are 0.
        """
        emissions = _tensor(emissions)
        batch, rows = self._checked(emissions, mask)
        path_sums = sums(*self._scores(rows), batch.on_device)
        in_log_space = partial(_marginals, mask=batch.mask)
        if path_sums is None:
            return in_log_space(emissions, *self._moves())
        value = batch.table(
            path_sums.marginals(path_sums.ahead()), torch.result_type(emissions, self.transitions)
        )
        return with_gradient(value, None, in_log_space, emissions, *self._moves())

    def _moves(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.transitions, self.start_transitions, self.end_transitions

    def _scores(self, rows: Rows) -> Scores:
        return Scores(rows, *map(numbers, self._moves()))

    def _checked(self, emissions: Tensor, mask: Tensor | None) -> tuple[Padded, Rows]:
        """Validate the scores and return the batch with its rows of emissions."""
        batch = self._packed(emissions, mask)
        return batch, self._rows(emissions, batch)

    def _packed(self, emissions: Tensor, mask: Tensor | None) -> Padded:
        if emissions.dim() != 3 or emissions.shape[-1] != self.num_tags:
            raise ShapeError(
                f"emissions must be (B, T, {self.num_tags}), got {tuple(emissions.shape)}"
            )
        shape = emissions.shape[:2]
        if mask is None:
            mask = torch.ones(shape, dtype=torch.bool, device=emissions.device)
        mask = _tensor(mask)
        if mask.shape != shape:
            raise ShapeError(
                f"mask must be {tuple(shape)} to match the emissions, got {tuple(mask.shape)}"
            )
        return pack_mask(mask.bool())

    def _rows(self, emissions: Tensor, batch: Padded) -> Rows:
        rows = batch.rows(emissions)
        if not rows.max() < torch.inf:
            raise ScoreError("emissions must be finite or -inf (forbidden), got NaN or +inf")
        return rows

    def _gold(self, tags: Tensor, batch: Padded) -> Rows:
        rows = batch.rows(tags)
        if len(wrong := rows[(rows < 0) | (rows >= self.num_tags)]):
            raise UnknownTagError(
                f"tags must be from 0 to {self.num_tags - 1}, got {int(wrong[0])}"
            )
        return rows


def _tensor(values: Any) -> Tensor:  # noqa: ANN401 - a tensor, an array or lists
    return values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))


def _log_likelihood(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    tags: Tensor,
    mask: Tensor,
) -> Tensor:
    """Compute `CRF.log_likelihood` in log space, differentiable any number of times."""
    words = torch.where(mask[..., None], emissions, 0.0)
    score = recursions.path_score(words, transitions, start, end, tags * mask, mask)
    log_partition = recursions.log_partition(words, transitions, start, end, mask)
    return torch.where(torch.isneginf(score), score, score - log_partition)


def _partial_log_likelihood(
    emissions: Tensor,
    transitions: Tensor,
    start: Tensor,
    end: Tensor,
    *,
    allowed: Tensor,
    mask: Tensor,
) -> Tensor:
    words = torch.where(mask[..., None], emissions, 0.0)
    kept = torch.where(allowed, words, -torch.inf)
    score = recursions.log_partition(kept, transitions, start, end, mask)
    log_partition = recursions.log_partition(words, transitions, start, end, mask)
    return torch.where(torch.isneginf(score), score, score - log_partition)


def _marginals(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, *, mask: Tensor
) -> Tensor:
    words = torch.where(mask[..., None], emissions, 0.0)
    log_alpha = recursions.forward(words, transitions, start, mask)
    log_beta = recursions.backward(words, transitions, end, mask)
    return torch.where(mask[..., None], normalise(log_alpha + log_beta), 0.0)
