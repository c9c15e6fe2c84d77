"""How good a tagger is on tagged sentences, by each of four decoders.

| decoder       | scores                     | takes                                        |
|---------------|----------------------------|----------------------------------------------|
| independent   | as trained                 | the best emission of each word               |
| left_to_right | as trained                 | the best next tag in turn, never looks back  |
| viterbi       | with the rules of BIO      | the best path                                |
| max_marginal  | with the rules of BIO      | the tag of the largest marginal at each word |

The rules of BIO act for taggers whose scheme it is, and there only for the last two. The greedy
decoders work on the scores as trained, so that the sentences in which they break BIO can be
counted: that is what the rules are for. Max-marginal may break BIO in spite of them, for two tags
that are each the likeliest need not fit together.

Calibration is of the potentials that viterbi and max_marginal see. `ece` is the expected
calibration error of words: 15 bins of equal width by the largest marginal of each word; in each the
distance between the mean of these marginals and the share of words for which that tag is right;
averaged with the number of words as weight. `sequence_ece` is the same for sentences and the
probability of the Viterbi path.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from tqdm import tqdm

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.greedy import greedy
from crfviz.chain.max_marginal import likeliest
from crfviz.chain.viterbi import viterbi
from crfviz.corpus.calibration import calibration_error
from crfviz.corpus.metrics import Accuracy, EntityScores, accuracy, entity_scores
from crfviz.exceptions import FormatError, UnknownTagError
from crfviz.taggers.tagger import Tagger
from crfviz.text.sentences import Sentence

DECODERS = ("independent", "left_to_right", "viterbi", "max_marginal")
SENTENCES_AT_ONCE = 256
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


def evaluate(
    tagger: Tagger, sentences: Sequence[Sentence], *, progress: bool = False
) -> Evaluation:
    """Tag all sentences by every decoder and compare with their own tags.

    Args:
        tagger: whose potentials are decoded.
        sentences: with their tags; at least one.
        progress: show a bar on standard error.

    Raises:
        FormatError: there is no sentence, or one without tags.
        UnknownTagError: the sentences have tags that the tagger does not know; names them.
        NoPathError: every path of a sentence is forbidden.
    """
    gold = _gold(tagger, sentences)
    decoded = _Decoded(tagger)
    with tqdm(total=len(sentences), unit=" sentences", disable=not progress) as bar:
        for start in range(0, len(sentences), SENTENCES_AT_ONCE):
            group = sentences[start : start + SENTENCES_AT_ONCE]
            decoded.add([sentence.tokens for sentence in group])
            bar.update(len(group))
    token_right = [
        tag == guess
        for tags, guesses in zip(gold, decoded.tags["max_marginal"], strict=True)
        for tag, guess in zip(tags, guesses, strict=True)
    ]
    path_right = [
        tags == guesses for tags, guesses in zip(gold, decoded.tags["viterbi"], strict=True)
    ]
    return Evaluation(
        model=tagger.name,
        scheme=tagger.scheme,
        probabilistic=tagger.probabilistic,
        device=tagger.device,
        num_sentences=len(sentences),
        num_tokens=len(token_right),
        scoring_seconds=decoded.seconds["scoring"],
        decoders={
            name: DecoderScores(
                accuracy=accuracy(gold, decoded.tags[name]),
                entities=_entities(tagger, gold, decoded.tags[name]),
                invalid_bio=_invalid(tagger, decoded.tags[name]),
                seconds=decoded.seconds[name],
            )
            for name in DECODERS
        },
        ece=_calibration_error(decoded.token_probability, token_right),
        sequence_ece=_calibration_error(decoded.path_probability, path_right),
    )


class _Decoded:
    """All sentences so far, tagged by every decoder, with the seconds it took."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger
        self.tags: dict[str, list[list[str]]] = {name: [] for name in DECODERS}
        self.seconds = dict.fromkeys(("scoring", *DECODERS), 0.0)
        self.token_probability: list[float] = []  # the largest marginal of each word
        self.path_probability: list[float] = []  # of each Viterbi path

    def add(self, sentences: Sequence[tuple[str, ...]]) -> None:
        """Tag more sentences."""
        with self._clock("scoring"):
            chains = self.tagger.potentials_batch(sentences)
        trained = chains
        if self.tagger.scheme:
            trained = self.tagger.potentials_batch(sentences, constrained=False)
        with self._clock("independent"):
            alone = [greedy(chain, "independent") for chain in trained]
        with self._clock("left_to_right"):
            in_turn = [greedy(chain, "left_to_right") for chain in trained]
        with self._clock("viterbi"):
            best = [viterbi(chain) for chain in chains]
        with self._clock("max_marginal"):
            marginals = [forward_backward(chain).marginals for chain in chains]
            likely = [likeliest(table) for table in marginals]
        self._name("independent", alone)
        self._name("left_to_right", in_turn)
        self._name("viterbi", [found.path for found in best])
        self._name("max_marginal", likely)
        self.path_probability += [found.probability for found in best]
        self.token_probability += torch.cat(marginals).amax(dim=1).tolist()

    def _name(self, decoder: str, paths: list[list[int]]) -> None:
        names = self.tagger.tags
        self.tags[decoder] += [[names[tag] for tag in path] for path in paths]

    @contextmanager
    def _clock(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[what] += time.perf_counter() - started


def _gold(tagger: Tagger, sentences: Sequence[Sentence]) -> list[list[str]]:
    """The tags to compare with, checked."""
    if not sentences:
        raise FormatError("expected at least one tagged sentence, got none")
    gold: list[list[str]] = []
    for number, sentence in enumerate(sentences, start=1):
        if sentence.tags is None:
            raise FormatError(f"expected tags to compare with, got none in sentence {number}")
        gold.append(list(sentence.tags))
    unknown = sorted({tag for tags in gold for tag in tags} - set(tagger.tags))
    if unknown:
        raise UnknownTagError(
            f"expected tags that {tagger.name} knows ({', '.join(tagger.tags)}), got "
            f"{', '.join(unknown)}; --map renames and drops entity types"
        )
    return gold


def _entities(tagger: Tagger, gold: list[list[str]], guess: list[list[str]]) -> EntityScores | None:
    if tagger.scheme is None:
        return None
    return entity_scores(gold, guess, np.random.default_rng(SEED))


def _invalid(tagger: Tagger, guess: list[list[str]]) -> int | None:
    """Sentences with an illegal `I-X`."""
    if tagger.scheme is None:
        return None
    return sum(bool(illegal_positions(tags)) for tags in guess)


def _calibration_error(probability: list[float], right: list[bool]) -> float:
    return calibration_error(torch.tensor(probability, dtype=torch.float64), torch.tensor(right))
