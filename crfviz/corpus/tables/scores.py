"""How good a tagger is on tagged sentences, by each of four decoders.

What the decoders do, and on which scores, is in `crfviz.corpus.run.results`. Max-marginal may break
BIO in spite of the rules, for two tags that are each the likeliest need not fit together.

Calibration is of the potentials that viterbi and max_marginal see. `ece` is the expected
calibration error of words: 15 bins of equal width by the largest marginal of each word; in each the
distance between the mean of these marginals and the share of words for which that tag is right;
averaged with the number of words as weight. `sequence_ece` is the same for sentences and the
probability of the Viterbi path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.constraints import illegal_positions
from crfviz.corpus.metrics import Accuracy, EntityScores, accuracy, calibration_error, entity_scores
from crfviz.corpus.run.results import Results, run
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

DECODERS = ("independent", "left_to_right", "viterbi", "max_marginal")
SEED = 0  # of the bootstrap


@dataclass(frozen=True)
class DecoderScores:
    """How good one decoder is."""

    accuracy: Accuracy
    entities: EntityScores | None  # BIO only
    invalid_bio: int | None  # sentences with an illegal I-X; BIO only
    seconds: float  # of decoding all sentences one by one, without the network


@dataclass(frozen=True)
class Evaluation:
    """How good a tagger is on one file."""

    model: str  # its name
    num_sentences: int
    num_tokens: int
    scheme: str | None  # "BIO" or None
    probabilistic: bool  # False: the calibration is that of a CRF with the tagger's scores
    device: str  # that scored the words: cpu or cuda
    scoring_seconds: float  # from words to potentials, in batches, once
    decoders: dict[str, DecoderScores]  # by name, as in DECODERS
    ece: float  # of the token marginals, in [0, 1]
    sequence_ece: float  # of the probability of the Viterbi path, in [0, 1]


def evaluate(tagger: Tagger, sentences: Sequence[Sentence]) -> Evaluation:
    """Tag all sentences by every decoder and compare with their own tags.

    Args:
        tagger: whose potentials are decoded.
        sentences: with their tags; at least one.

    Raises:
        FormatError: there is no sentence, or one without tags.
        UnknownTagError: the sentences have tags that the tagger does not know; names them.
        NoPathError: every path of a sentence is forbidden.
    """
    return evaluation_of(run(tagger, sentences))


def evaluation_of(results: Results) -> Evaluation:
    """The same from a run that is finished."""
    tagger = results.tagger
    gold = results.names(results.gold)
    return Evaluation(
        model=tagger.name,
        scheme=tagger.scheme,
        probabilistic=tagger.probabilistic,
        device=tagger.device,
        num_sentences=results.num_sentences,
        num_tokens=len(results.gold),
        scoring_seconds=results.seconds["scoring"],
        decoders={name: decoder_scores(results, name, gold) for name in DECODERS},
        ece=calibration_error(results.token_probability, results.right("max_marginal")),
        sequence_ece=calibration_error(
            results.path_probability, results.sentences_right("viterbi")
        ),
    )


def decoder_scores(results: Results, decoder: str, gold: Sequence[Sequence[str]]) -> DecoderScores:
    """How good one decoder is.

    Args:
        results: of a run.
        decoder: one of `results.EVERY_DECODER`.
        gold: the names of the gold tags, of every sentence.
    """
    bio = results.tagger.scheme is not None
    guess = results.names(results.tags[decoder])
    return DecoderScores(
        accuracy=accuracy(gold, guess),
        entities=entity_scores(gold, guess, np.random.default_rng(SEED)) if bio else None,
        invalid_bio=sum(bool(illegal_positions(tags)) for tags in guess) if bio else None,
        seconds=results.seconds[decoder],
    )
