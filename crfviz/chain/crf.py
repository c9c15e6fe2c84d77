"""The CRF layer for training: padded batches, on CPU or GPU, in float32 or float64."""

import torch
from torch import Tensor, nn

from crfviz.chain import recursions
from crfviz.chain.forward_backward import normalise
from crfviz.chain.recursions import lowest_best
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
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
        """What stands between the brackets of `repr`."""
        return f"num_tags={self.num_tags}"

    def log_likelihood(self, emissions: Tensor, tags: Tensor, mask: Tensor | None = None) -> Tensor:
        """Log of the probability of each tagging, (B,) nats; -inf where it is forbidden.

        Raises:
            UnknownTagError: a tag at a word is not from 0 to K-1.
        """
        emissions, mask = self._checked(emissions, mask)
        tags = self._checked_tags(tags, mask)
        start, end = self.start_transitions, self.end_transitions
        score = recursions.path_score(emissions, self.transitions, start, end, tags, mask)
        log_partition = recursions.log_partition(emissions, self.transitions, start, end, mask)
        return torch.where(torch.isneginf(score), score, score - log_partition)

    @torch.no_grad()
    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """The best path of each sentence, as `viterbi` finds it, in float64: B lists of tag ids.

        Raises:
            NoPathError: every path of a sentence is forbidden.
        """
        emissions, mask = self._checked(emissions, mask)
        transitions = self.transitions.double()
        start = self.start_transitions.double()
        best = recursions.forward(emissions.double(), transitions, start, mask, recursions.maximum)
        final = best[:, -1] + self.end_transitions
        blocked = torch.isneginf(final).all(-1).nonzero()
        if len(blocked):
            raise NoPathError(f"every path of sentence {blocked[0].item()} is forbidden")
        last = lowest_best(final, -1).tolist()
        pointers = recursions.backpointers(best, transitions).tolist()
        lengths = mask.sum(-1).tolist()
        return [
            recursions.follow(tag, reversed(rows[1:length]))[::-1]
            for tag, rows, length in zip(last, pointers, lengths, strict=True)
        ]

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """The probability of each tag at each word, (B, T, K).

        Rows of words sum to 1, rows of padding and of sentences without an allowed path are 0.
        """
        emissions, mask = self._checked(emissions, mask)
        log_alpha = recursions.forward(emissions, self.transitions, self.start_transitions, mask)
        log_beta = recursions.backward(emissions, self.transitions, self.end_transitions, mask)
        return torch.where(mask[..., None], normalise(log_alpha + log_beta), 0.0)

    def _checked(self, emissions: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """The emissions with zeros at padding, and the mask as (B, T) bool."""
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
        mask = mask.bool()
        if mask.shape[1] == 0 or not mask[:, 0].all():
            raise EmptySentenceError("every sentence of a batch must have at least one word")
        if (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ShapeError("mask must be words first, then padding; got words after padding")
        emissions = torch.where(mask[..., None], emissions, 0.0)
        if not (emissions < torch.inf).all():
            raise ScoreError("emissions must be finite or -inf (forbidden), got NaN or +inf")
        return emissions, mask

    def _checked_tags(self, tags: Tensor, mask: Tensor) -> Tensor:
        """The tags with zeros at padding."""
        if tags.shape != mask.shape:
            raise ShapeError(
                f"tags must be {tuple(mask.shape)} to match the emissions, got {tuple(tags.shape)}"
            )
        tags = tags.masked_fill(~mask, 0)
        if ((tags < 0) | (tags >= self.num_tags)).any():
            raise UnknownTagError(f"tags must be from 0 to {self.num_tags - 1}")
        return tags
