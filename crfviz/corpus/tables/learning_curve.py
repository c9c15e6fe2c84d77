"""Learning curve of a tagger on some labels: is it enough, or what do the next sentences bring?

A CRF over word features is fitted on parts of four fifths of the sentences, at five sizes, and
tags the remaining fifth; so every sentence is tagged once at each size. The score is F1 of entities
for tags of BIO, BIOES or BILOU, else the share of right words.

The gain of fifty more sentences extends two lines, which are fitted to the scores by least squares
with weight n: over log n, which is flat early, and over the root of n, which is flat late. It is
the mean of both. Its interval is that of the normal distribution with four variances: of the
slopes, over samples of sentences; of the slopes, by how far the scores lie from the lines; between
the two lines; and of the next fifty sentences, which differ from any other fifty:

    F (1 - F) / E * 50 / n

where F is the last score and E the number of entities, or of words, in the n sentences. Gain and
interval stay within what is left between the last score and 1, or 0.

Source:
    Cortes et al., "Learning Curves: Asymptotic Values and Rate of Convergence" (1994), for curves
    that are fitted to small parts and extended.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crfviz.chain.decoding.viterbi import best_paths
from crfviz.corpus.metrics import Z, entity_counts, percentiles, resampled
from crfviz.corpus.tables.evaluation import Tagging
from crfviz.corpus.tables.label_errors import one_thread, tagged_sentences
from crfviz.corpus.training.cross_validation import SEED, folds_of
from crfviz.corpus.training.feature_crf import fit_feature_crf, partly_tagged
from crfviz.corpus.training.labelled import order_tags
from crfviz.exceptions import CrfvizError, errors_at
from crfviz.taggers.perceptron import PerceptronTagger
from crfviz.text.readers.spelling import entities_of
from crfviz.text.schemes import entity_scheme, tags_of
from crfviz.text.sentences import Sentence

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)  # of four fifths of the sentences
MORE = 50  # sentences
MIN_SENTENCES = 20
MAX_STEPS = 30  # of L-BFGS; the scores hardly change with more
WORTH = 0.005  # the smallest expected gain that is worth fifty sentences
MIN_GOLD = 5  # of a tag, to be the weakest
CURVES: tuple[Callable[[Any], Any], ...] = (np.log, np.sqrt)  # lines over these are extended

Counts = NDArray[np.int64]


class _Keyed:
    """Fields by name, as in the JSON."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - fields of any type
        if name not in self.__dict__:
            raise KeyError(name)
        return self.__dict__[name]


@dataclass(frozen=True)
class CurvePoint(_Keyed):
    """The score of models that learnt from so many sentences."""

    sentences: int  # mean over the folds
    score: float  # in [0, 1]
    interval: tuple[float, float]  # 95 %, over samples of sentences


@dataclass(frozen=True)
class NextGain(_Keyed):
    """The expected gain of more sentences."""

    sentences: int  # how many more
    gain: float  # of the score
    interval: tuple[float, float]  # 95 %


@dataclass(frozen=True)
class WeakestTag(_Keyed):
    """The tag, or entity type, with the lowest F1."""

    tag: str
    score: float  # F1, in [0, 1]
    gold: int  # words or entities in the sentences


@dataclass(frozen=True)
class LearningCurve(_Keyed):
    """Scores by number of sentences, and the expected gain of the next fifty.

    Each field can also be read by its name, as in the JSON: `curve["points"][0]["score"]`.
    """

    sentences: int
    metric: str  # entity F1 or word accuracy
    points: tuple[CurvePoint, ...]  # ascending
    next: NextGain
    weakest: WeakestTag | None  # None if every tag is rare
    go_on: bool | None  # whether the gain is worth the work; None if its interval leaves it open
    verdict: str  # one sentence

    def as_fields(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return asdict(self)


@one_thread()
def learning_curve(
    gold: str | Path | Iterable[Tagging], *, report: Callable[[float], object] = lambda _: None
) -> LearningCurve:
    """Return the cross-validated learning curve, and the expected gain of fifty more sentences.

    25 fits: 300 sentences of UNER take about half a minute of one core.

    Args:
        gold: a file, or sentences with tags, at least 20 different ones.
        report: called with the finished share, in [0, 1]; an exception in it ends the run.

    Raises:
        FormatError: a sentence, or one of its words, has no tag, or a tag belongs to no entity.
        CrfvizError: there are fewer than 20 different sentences, or one tag only.
    """
    sentences = [each for each in tagged_sentences(gold) if each.tokens]
    tags = order_tags([tag for each in sentences for tag in each.tags or ()])
    if len({each.tokens for each in sentences}) < MIN_SENTENCES or len(tags) < 2:
        raise CrfvizError(
            f"a learning curve needs at least {MIN_SENTENCES} different sentences with two "
            f"different tags, got {len(sentences)} with {len(tags)}"
        )
    scheme = entity_scheme(tags)
    bio = scheme is not None
    if scheme is not None:
        sentences = [_in_bio(n, each, scheme) for n, each in enumerate(sentences, start=1)]
        tags = order_tags([tag for each in sentences for tag in each.tags or ()])
    sizes, guesses = _guesses(sentences, tags, report)
    truth = [each.tags or () for each in sentences]
    tables = [_counts(truth, guess, bio=bio) for guess in guesses]
    totals = [sum(table.values(), np.zeros((len(truth), 3), np.int64)) for table in tables]
    samples = resampled(np.concatenate(totals, axis=1), np.random.default_rng(SEED))
    scores = np.stack([_f1(samples[:, 3 * n : 3 * n + 3]) for n in range(len(sizes))], axis=1)
    values = np.array([_f1(total.sum(axis=0, keepdims=True))[0] for total in totals])
    points = tuple(
        CurvePoint(round(size), float(value), percentiles(column))
        for size, value, column in zip(sizes, values, scores.T, strict=True)
    )
    units = int(totals[-1][:, 2].sum())
    following = _next(np.array(sizes), values, scores, len(sentences), units)
    weakest = _weakest(tables[-1])
    return LearningCurve(
        len(sentences),
        "entity F1" if bio else "word accuracy",
        points,
        following,
        weakest,
        _go_on(following),
        _verdict(following, weakest),
    )


def _in_bio(number: int, sentence: Sentence, scheme: str) -> Sentence:
    with errors_at(f"sentence {number}"):
        entities = entities_of(sentence.tags or (), scheme)
    return Sentence(sentence.tokens, tuple(tags_of(entities, len(sentence.tokens))))


def _guesses(
    sentences: Sequence[Sentence], tags: Sequence[str], report: Callable[[float], object]
) -> tuple[list[float], list[list[Sequence[str]]]]:
    """Return the mean size of the training parts and the predicted tags, by share."""
    folds = list(folds_of([each.tokens for each in sentences], SEED))
    guesses: list[list[Sequence[str]]] = [[()] * len(sentences) for _ in SHARES]
    sizes, fits, done = [0.0] * len(SHARES), len(folds) * sum(SHARES), 0.0
    for number, (rest, held) in enumerate(folds):
        order = Random(SEED + number).sample(rest, len(rest))
        for place, share in enumerate(SHARES):
            part = order[: max(2, round(share * len(order)))]

            def told(progress: float, before: float = done, share: float = share) -> None:
                report((before + share * progress) / fits)

            learnt = [partly_tagged(sentences[n], tags) for n in part]
            model = fit_feature_crf(learnt, tags, told, max_steps=MAX_STEPS)
            tagger = PerceptronTagger(Path(), model)
            paths = best_paths(tagger.potentials_batch([sentences[n].tokens for n in held]))
            for n, path in zip(held, paths, strict=True):
                guesses[place][n] = [tags[tag] for tag in path]
            sizes[place] += len(part) / len(folds)
            done += share
    report(1.0)
    return sizes, guesses


def _counts(
    gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]], *, bio: bool
) -> dict[str, Counts]:
    """Return (N, 3) counts by type or tag: right, predicted, gold."""
    if bio:
        return entity_counts(gold, guess)
    tags = sorted({tag for side in (gold, guess) for row in side for tag in row})
    found = {tag: np.zeros((len(gold), 3), np.int64) for tag in tags}
    for n, (expected, said) in enumerate(zip(gold, guess, strict=True)):
        for one, other in zip(expected, said, strict=True):
            found[one][n, 2] += 1
            found[other][n, 1] += 1
            found[one][n, 0] += one == other
    return found


def _f1(counts: Counts) -> NDArray[np.float64]:
    """Return F1, (S,) of (S, 3) counts; with a tag for every word it is the share of right ones."""
    right, predicted, gold = counts.T
    found: NDArray[np.float64] = 2 * right / np.maximum(predicted + gold, 1)
    return found


def _next(
    sizes: NDArray[np.float64],
    values: NDArray[np.float64],
    scores: NDArray[np.float64],
    number: int,
    units: int,
) -> NextGain:
    """Return the gain of `MORE` sentences beyond `number`, from (P,) scores and (S, P) samples."""
    lines, sampled, scattered = [], [], []
    for curve in CURVES:
        reach = curve(number + MORE) - curve(number)
        slope = float(_slope(curve(sizes), sizes, values[None])[0])
        lines.append(slope * reach)
        sampled.append(_slope(curve(sizes), sizes, scores) * reach)
        scattered.append(_scatter(curve(sizes), sizes, values, slope) * reach)
    right = (values[-1] * units + 2) / (units + 4)  # never 0 or 1: Agresti and Coull (1998)
    new = np.sqrt(right * (1 - right) / max(1, units) * MORE / number)
    own = np.mean(sampled, axis=0).std(), np.std(lines, ddof=1), new
    error = Z * float(np.hypot(np.linalg.norm(own), np.sqrt(np.mean(np.square(scattered)))))
    gain = float(np.mean(lines))
    possible = -values[-1], 1 - values[-1]  # the next score is in [0, 1], too
    gain, low, high = map(float, np.clip([gain, gain - error, gain + error], *possible))
    return NextGain(MORE, gain, (low, high))


def _slope(
    x: NDArray[np.float64], sizes: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the slope over x, (S,) of (S, P) scores, by least squares with weights `sizes`."""
    weights = sizes / sizes.sum()
    x = x - weights @ x
    slopes: NDArray[np.float64] = scores @ (weights * x) / (weights @ x**2)
    return slopes


def _scatter(
    x: NDArray[np.float64], sizes: NDArray[np.float64], values: NDArray[np.float64], slope: float
) -> float:
    """Return the standard error of the slope, from the distances of (P,) values from the line."""
    weights = sizes / sizes.sum()
    x = x - weights @ x
    left = values - weights @ values - slope * x
    variance = (weights * x * left) @ (weights * x * left) / (weights @ x**2) ** 2
    return float(np.sqrt(variance * len(x) / max(1, len(x) - 2)))  # two points have no distance


def _weakest(tables: dict[str, Counts]) -> WeakestTag | None:
    totals = {name: table.sum(axis=0, keepdims=True) for name, table in tables.items()}
    common = {name: total for name, total in totals.items() if total[0, 2] >= MIN_GOLD}
    if not common:
        return None
    name = min(common, key=lambda each: (_f1(common[each])[0], each))
    return WeakestTag(name, float(_f1(common[name])[0]), int(common[name][0, 2]))


def _go_on(following: NextGain) -> bool | None:
    """Return whether the gain is worth the work; None if it may be, and there may be none."""
    low, high = following.interval
    return None if low <= 0 and high >= WORTH else following.gain >= WORTH


def _verdict(following: NextGain, weakest: WeakestTag | None) -> str:
    low, high = following.interval
    points = f"{100 * following.gain:.1f} points ({100 * low:.1f} to {100 * high:.1f})"
    go_on = _go_on(following)
    if go_on is None:
        return (
            f"Cannot tell yet: the next {following.sentences} sentences may bring {points}; label "
            "them and compute the curve again."
        )
    if not go_on:
        return f"Stop: the next {following.sentences} sentences are expected to bring {points}."
    worst = f", above all with {weakest.tag}" if weakest else ""
    return f"Go on: the next {following.sentences} sentences should bring {points}{worst}."
