"""A CRF over the perceptron's features, trained by L-BFGS on fully or partly tagged sentences.

    minimise  -sum over sentences of log p(allowed tags | words) + ridge / 2 * sum of w²

If every word has one allowed tag, this is the usual penalised likelihood. It is convex, so two runs
give equal weights. Training on some hundred sentences takes seconds.

Source:
    Lafferty, McCallum and Pereira (2001); Liu and Nocedal (1989) for the optimiser; Tsuboi et al.
    (2008) for partly tagged sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag

from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import best_paths
from crfviz.chain.engine.compiled import long_work
from crfviz.corpus.metrics import accuracy
from crfviz.corpus.training.cross_validation import cross_validated
from crfviz.corpus.training.labelled import Sources, read_train_and_dev, write_training_lexicon
from crfviz.exceptions import UnknownTagError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.perceptron import (
    LIKELIHOOD,
    NUM_FEATURES,
    Floats,
    Perceptron,
    PerceptronTagger,
    feature_keys,
    rows_of,
    save_perceptron,
)
from crfviz.taggers.storage import HISTORY_FILE, write_json
from crfviz.text.files import abbreviate
from crfviz.text.schemes import OUTSIDE, is_bio, is_inside
from crfviz.text.sentences import Sentence

RIDGE = 0.25  # chosen on EWT dev for 30 to 600 training sentences; half or double are as good
MAX_STEPS = 80  # of L-BFGS; the weights hardly change after some fifty
TOLERANCE = 1e-3  # stop when the largest gradient is smaller


@dataclass(frozen=True, eq=False)
class PartlyTagged:
    """A sentence with the allowed tags of each word."""

    tokens: tuple[str, ...]  # T, at least one
    allowed: NDArray[np.bool_]  # (T, K), at least one in each row


def train_feature_crf(sources: Sources, out: Path) -> Perceptron:
    """Train on files and write the folder `out`, with the scores of dev or cross-validation."""
    train, dev, tags = read_train_and_dev(sources)
    model = fit_sentences(train, tags)
    save_perceptron(out, model)
    record: dict[str, object] = {"ridge": RIDGE}
    if dev:
        paths = best_paths(PerceptronTagger(out).potentials_batch([s.tokens for s in dev]))
        guess = [[tags[tag] for tag in path] for path in paths]
        record["dev"] = asdict(accuracy([s.tags or () for s in dev], guess))
    else:
        record["cross_validation"] = asdict(
            cross_validated(train, lambda part: fit_sentences(part, tags))
        )
    write_json(out / HISTORY_FILE, record)
    write_training_lexicon(sources, out)
    return model


def fit_sentences(sentences: Sequence[Sentence], tags: Sequence[str]) -> Perceptron:
    return fit_feature_crf([partly_tagged(sentence, tags) for sentence in sentences], tags)


def partly_tagged(sentence: Sentence, tags: Sequence[str]) -> PartlyTagged:
    """Return a sentence whose words allow their own tag, or any tag if it is `UNSET`.

    An entity never continues from a tagged word into an untagged one.

    Raises:
        UnknownTagError: a tag is not in `tags`.
    """
    ids = {tag: index for index, tag in enumerate(tags)}
    allowed = np.zeros((len(sentence.tokens), len(tags)), dtype=np.bool_)
    before, bio = OUTSIDE, is_bio(tags)
    for row, tag in zip(allowed, sentence.tags or (), strict=True):
        if tag == UNSET:
            row[:] = [before == UNSET or not (bio and is_inside(other)) for other in tags]
        elif tag not in ids:
            raise UnknownTagError(
                f"expected one of {', '.join(tags)}, got the tag {abbreviate(tag)}"
            )
        else:
            row[ids[tag]] = True
        before = tag
    return PartlyTagged(sentence.tokens, allowed)


@long_work()
def fit_feature_crf(
    sentences: Sequence[PartlyTagged],
    tags: Sequence[str],
    report: Callable[[float], None] = lambda _: None,
    ridge: float = RIDGE,
    *,
    min_count: int = 1,
    max_steps: int = MAX_STEPS,
) -> Perceptron:
    """Return the weights that minimise the loss on the sentences.

    Args:
        sentences: sentences with allowed tags, at least one.
        tags: K tags, in id order; tags that no sentence has are rarely predicted.
        report: called with the finished share of the steps; an exception in it ends the run.
        ridge: weight of the penalty.
        min_count: rarer features have no weight.
        max_steps: largest number of steps of L-BFGS.
    """
    keys = [feature_keys(sentence.tokens) for sentence in sentences]
    known, counts = np.unique(np.concatenate([each.ravel() for each in keys]), return_counts=True)
    known = known[counts >= min_count]
    loss = _Loss(sentences, [rows_of(each, known) for each in keys], len(known), len(tags), ridge)
    _minimise(loss, report, max_steps)
    crf = loss.crf
    return Perceptron(
        tags=tuple(tags),
        updates=LIKELIHOOD,
        features=known,
        emissions=_floats(loss.weights),
        words=known[:0],
        word_transitions=np.zeros((1, len(tags), len(tags)), np.float32),
        transitions=_floats(crf.transitions),
        start=_floats(crf.start_transitions),
        end=_floats(crf.end_transitions),
    )


class _Loss:
    """The penalised loss over one batch of all sentences, in float64, and its parameters."""

    def __init__(
        self,
        sentences: Sequence[PartlyTagged],
        rows: Sequence[NDArray[np.int64]],
        num_features: int,
        num_tags: int,
        ridge: float,
    ) -> None:
        B, T = len(sentences), max(len(sentence.tokens) for sentence in sentences)
        self.mask = torch.zeros(B, T, dtype=torch.bool)
        self.allowed = torch.ones(B, T, num_tags, dtype=torch.bool)
        for number, sentence in enumerate(sentences):
            self.mask[number, : len(sentence.tokens)] = True
            self.allowed[number, : len(sentence.tokens)] = torch.from_numpy(sentence.allowed)
        self.rows = torch.from_numpy(np.concatenate(rows)).view(-1, NUM_FEATURES)
        self.none = num_features  # row of features without a weight; it stays 0
        self.weights = torch.zeros(
            num_features + 1, num_tags, dtype=torch.float64, requires_grad=True
        )
        self.crf = CRF(num_tags).double()
        with torch.no_grad():
            for parameter in self.crf.parameters():
                parameter.zero_()
        self.ridge = ridge

    @property
    def parameters(self) -> list[Tensor]:
        return [self.weights, *self.crf.parameters()]

    def __call__(self) -> Tensor:
        words = embedding_bag(self.rows, self.weights, mode="sum", padding_idx=self.none)
        emissions = words.new_zeros(*self.mask.shape, words.shape[1])
        emissions = emissions.masked_scatter(self.mask[..., None], words)
        likelihood = self.crf.partial_log_likelihood(emissions, self.allowed, self.mask)
        penalty = sum((p.square().sum() for p in self.parameters), words.new_zeros(()))
        return self.ridge / 2 * penalty - likelihood.sum()


def _minimise(loss: _Loss, report: Callable[[float], None], max_steps: int) -> None:
    from torch.optim.lbfgs import LBFGS  # takes a second to import

    steps = 0
    optimiser = LBFGS(
        loss.parameters,
        max_iter=max_steps,
        tolerance_grad=TOLERANCE,
        tolerance_change=0.0,
        history_size=10,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        nonlocal steps
        steps += 1
        report(min(1.0, steps / max_steps))
        optimiser.zero_grad()
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]  # torch has no type for it
        return value

    optimiser.step(closure)  # type: ignore[no-untyped-call]  # of torch


def _floats(table: Tensor) -> Floats:
    return table.detach().numpy().astype(np.float32)
