"""The CRF layer for training: padded batches, on CPU or GPU, in float32 or float64."""

from functools import partial

import torch
from torch import Tensor, nn

from crfviz.chain import recursions
from crfviz.chain.engine.packing import Padded, Rows, numbers, pack_mask
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
    NoPathError,
    ScoreError,
    ShapeError,
    UnknownTagError,
)


class CRF(nn.Module):
    """A linear-chain CRF over given emissions, with learned transitions.

    The parameters have the names and the meaning of pytorch-crf, so its checkpoints load as they
    are. Emissions are (B, T, K), tags (B, T) long. A mask (B, T) bool is True at words and False at
    padding, words first; None means that all are words. What stands at padding, in emissions or
    tags, has no influence. Every method raises a ShapeError for a shape that does not match and for
    a mask with words after padding, an EmptySentenceError for a sentence without a word, and a
    ScoreError for a score at a word that is NaN or +inf.

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
        """Return the text between the brackets of `repr`."""
        return f"num_tags={self.num_tags}"

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return log of the probability of each tagging, (B,) nats; -inf where it is forbidden.

        Raises:
            UnknownTagError: a tag at a word is not from 0 to K-1.
        """
        batch, rows = self._checked(emissions, mask)
        gold = self._checked_tags(tags, batch)
        scores = self._scores(rows)
        found = sums(*scores, batch.there)
        in_log_space = partial(_log_likelihood, tags=tags, mask=batch.mask)
        if found is None:
            return in_log_space(emissions, *self._moves())
        score = gold_score(scores, found, gold)
        allowed = score > -torch.inf
        dtype = torch.result_type(emissions, self.transitions)
        log_partition = found.log_partition()
        log_partition[~allowed] = 0.0
        score -= log_partition

        def first(weights: Tensor) -> Scores:
            given = batch.places(weights)
            slopes = gradient(found, gold, given, given * allowed)
            tensors = (torch.as_tensor(slope).to(dtype) for slope in slopes[1:])
            return Scores(batch.table(slopes.emissions, emissions.dtype), *tensors)

        value = batch.sentences(score).to(dtype)
        return with_gradient(value, first, in_log_space, emissions, *self._moves())

    def partial_log_likelihood(
        self, emissions: Tensor, allowed: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Return log of the probability of all taggings that are allowed, (B,) nats, at most 0.

        It is log Z over the allowed paths minus log Z. With one tag allowed at each word it is the
        log-likelihood of that tagging; with all allowed it is 0, and with none at a word -inf.

        Args:
            emissions: (B, T, K).
            allowed: (B, T, K) bool, the tags that a word may have; at padding without influence.
            mask: (B, T) bool.

        Raises:
            ShapeError: `allowed` is not (B, T, K).

        Source:
            Tsuboi, Kashima, Mori, Oda and Matsumoto, "Training Conditional Random Fields Using
            Incomplete Annotations" (2008), section 4.
        """
        batch, rows = self._checked(emissions, mask)
        if allowed.shape != emissions.shape:
            raise ShapeError(
                f"allowed must be {tuple(emissions.shape)} to match the emissions,"
                f" got {tuple(allowed.shape)}"
            )
        free = allowed.bool() | ~batch.mask[..., None]
        every = sums(*self._scores(rows), batch.there)
        kept = sums(
            *self._scores(batch.rows(emissions.masked_fill(~free, -torch.inf))), batch.there
        )
        in_log_space = partial(_partial_log_likelihood, allowed=free, mask=batch.mask)
        if every is None or kept is None:
            return in_log_space(emissions, *self._moves())
        score = kept.log_partition()
        possible = score > -torch.inf
        log_partition = every.log_partition()
        log_partition[~possible] = 0.0
        score = (score - log_partition).clip(max=0.0)  # no rounding above
        dtype = torch.result_type(emissions, self.transitions)

        def first(weights: Tensor) -> Scores:
            given = batch.places(weights) * possible
            both = zip(expected_uses(kept, given), expected_uses(every, given), strict=True)
            slopes = Scores(*(mine - all_ for mine, all_ in both))
            tensors = (torch.as_tensor(slope).to(dtype) for slope in slopes[1:])
            return Scores(batch.table(slopes.emissions, emissions.dtype), *tensors)

        value = batch.sentences(score).to(dtype)
        return with_gradient(value, first, in_log_space, emissions, *self._moves())

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """The best path of each sentence, as `viterbi` finds it, in float64: B lists of tag ids.

        Raises:
            NoPathError: every path of a sentence is forbidden.
        """
        batch, rows = self._checked(emissions, mask)
        tags, allowed = best_paths(*self._scores(rows), batch.packed)
        if not allowed.all():
            blocked = batch.packed.order[~allowed].min()
            raise NoPathError(f"every path of sentence {blocked} is forbidden")
        return batch.lists(tags)

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the probability of each tag at each word, (B, T, K).

        Rows of words sum to 1, rows of padding and of sentences without an allowed path are 0.
        """
        batch, rows = self._checked(emissions, mask)
        found = sums(*self._scores(rows), batch.there)
        in_log_space = partial(_marginals, mask=batch.mask)
        if found is None:
            return in_log_space(emissions, *self._moves())
        value = batch.table(
            found.marginals(found.ahead()), torch.result_type(emissions, self.transitions)
        )
        return with_gradient(value, None, in_log_space, emissions, *self._moves())

    def _moves(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.transitions, self.start_transitions, self.end_transitions

    def _scores(self, rows: Rows) -> Scores:
        return Scores(rows, *map(numbers, self._moves()))

    def _checked(self, emissions: Tensor, mask: Tensor | None) -> tuple[Padded, Rows]:
        """Validate the shapes and return the batch with its rows of emissions."""
        if emissions.dim() != 3 or emissions.shape[-1] != self.num_tags:
            raise ShapeError(
                f"emissions must be (B, T, {self.num_tags}), got {tuple(emissions.shape)}"
            )
        shape = emissions.shape[:2]
        if mask is None:
            mask = torch.ones(shape, dtype=torch.bool, device=emissions.device)
        if mask.shape != shape:
            raise ShapeError(
                f"mask must be {tuple(shape)} to match the emissions, got {tuple(mask.shape)}"
            )
        batch = pack_mask(mask.bool())
        rows = batch.rows(emissions)
        if not rows.max() < torch.inf:
            raise ScoreError("emissions must be finite or -inf (forbidden), got NaN or +inf")
        return batch, rows

    def _checked_tags(self, tags: Tensor, batch: Padded) -> Rows:
        """Validate the tags and return their rows."""
        if tags.shape != batch.mask.shape:
            raise ShapeError(
                f"tags must be {tuple(batch.mask.shape)} to match the emissions,"
                f" got {tuple(tags.shape)}"
            )
        rows = batch.rows(tags)
        if rows.min() < 0 or rows.max() >= self.num_tags:
            raise UnknownTagError(f"tags must be from 0 to {self.num_tags - 1}")
        return rows


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
    """Compute `CRF.partial_log_likelihood` in log space, differentiable any number of times."""
    words = torch.where(mask[..., None], emissions, 0.0)
    kept = torch.where(allowed, words, -torch.inf)
    score = recursions.log_partition(kept, transitions, start, end, mask)
    log_partition = recursions.log_partition(words, transitions, start, end, mask)
    return torch.where(torch.isneginf(score), score, score - log_partition)


def _marginals(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, *, mask: Tensor
) -> Tensor:
    """Compute `CRF.marginals` in log space."""
    words = torch.where(mask[..., None], emissions, 0.0)
    log_alpha = recursions.forward(words, transitions, start, mask)
    log_beta = recursions.backward(words, transitions, end, mask)
    return torch.where(mask[..., None], normalise(log_alpha + log_beta), 0.0)
