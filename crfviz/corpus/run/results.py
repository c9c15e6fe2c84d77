"""What came out of a run of a tagger over tagged sentences.

Words of all sentences stand one after the other in flat arrays, M of them: a million words take
about 45 MB. Tags are ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crfviz.corpus.run.log import ErrorLog
from crfviz.taggers.tagger import Tagger

BEAMS = {"beam_2": 2, "beam_4": 4, "beam_8": 8}  # width by name
EVERY_DECODER = ("independent", "left_to_right", *BEAMS, "viterbi", "max_marginal")
ORACLE_PATHS = 8  # of the k-best oracle
SEEN = ("seen with this tag", "seen with other tags only", "never seen")  # in training


@dataclass
class Results:
    """What came out for N sentences of M words."""

    tagger: Tagger
    lengths: NDArray[np.int32]  # (N,) words of each sentence
    shapes: NDArray[np.int8]  # (M,) index into `crfviz.taggers.features.SHAPES`
    seen: NDArray[np.int8] | None  # (M,) index into SEEN; None: the tagger has no lexicon
    longest_trained: int | None  # words of the longest training sentence; None likewise
    gold: NDArray[np.int16]  # (M,) tag ids
    tags: dict[str, NDArray[np.int16]]  # (M,) by decoder
    token_probability: NDArray[np.float64]  # (M,) the largest marginal
    gold_probability: NDArray[np.float64]  # (M,) the marginal of the gold tag
    path_probability: NDArray[np.float64]  # (N,) of the Viterbi path
    gold_log_probability: NDArray[np.float64]  # (N,) log p(gold path | words); -inf: forbidden
    gold_rank: NDArray[np.int16]  # (N,) place of gold among the best paths from 0; -1: beyond 8
    search_errors: dict[str, int]  # sentences whose path scores less than the best, by decoder
    log: ErrorLog  # of Viterbi's errors
    entity_probability: NDArray[np.float64]  # (E,) exact, of Viterbi's entities; BIO only
    entity_right: NDArray[np.bool_]  # (E,) whether gold has them
    seconds: dict[str, float]  # "scoring" and every decoder
    microseconds: dict[str, float]  # a sentence: the median over batches; likewise

    @property
    def num_sentences(self) -> int:
        """N."""
        return len(self.lengths)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The sentence of each word: (M,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def right(self, decoder: str) -> NDArray[np.bool_]:
        """Whether each word is tagged as in gold: (M,)."""
        return np.equal(self.tags[decoder], self.gold)

    def sentences_right(self, decoder: str) -> NDArray[np.bool_]:
        """Whether every word of a sentence is: (N,)."""
        wrong = np.bincount(self.owners[~self.right(decoder)], minlength=len(self.lengths))
        return np.equal(wrong, 0)

    def names(self, ids: NDArray[np.int16]) -> list[list[str]]:
        """Tag names of every sentence, of (M,) ids."""
        named = [self.tagger.tags[tag] for tag in ids.tolist()]
        ends = np.cumsum(self.lengths).tolist()
        return [
            named[end - length : end]
            for end, length in zip(ends, self.lengths.tolist(), strict=True)
        ]
