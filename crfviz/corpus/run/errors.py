"""Errors and suspected entities of a sentence.

An error is a maximal run of words whose Viterbi tags differ from gold. Each error is corrected on
its own: the target of its triage (`crfviz.chain.questions.triage`) is the Viterbi path with gold
tags on these words only. So the gaps of a sentence's errors add up to that of its gold path.

An entity that only the model has makes gold doubtful if it is probable; an entity that only gold
has, if it is improbable:

    doubt = p(entity | words) of a predicted entity, 1 - p(entity | words) of a gold one

with the exact probability of the whole entity, type and both boundaries
(`crfviz.chain.questions.entities`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.distribution import lead
from crfviz.chain.edits import Move, path_moves
from crfviz.chain.forward_backward import Posterior
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import run_probability
from crfviz.chain.questions.entities import entity_probability
from crfviz.chain.questions.triage import Triage, put_right, triages, wrong_runs
from crfviz.corpus.table import Table, TableRow
from crfviz.text.schemes import BIO, Span, entity_scheme, spans
from crfviz.text.sentences import Sentence

NEIGHBOURS = 3  # words on either side of the words in brackets


@dataclass(frozen=True)
class Error:
    """One maximal run of words with wrong tags."""

    sentence: int  # from 0
    first: int  # position of its first word, where the wrong path leaves gold
    last: int  # position of its last word
    gold: tuple[str, ...]  # the gold tags of these words
    predicted: tuple[str, ...]  # the tags of the Viterbi path
    triage: Triage
    gold_probability: float  # p(gold tags of these words | sentence)
    predicted_probability: float  # p(predicted tags of these words | sentence)
    chosen_move: Move  # best path's, at the step most against gold
    gold_move: Move  # transition of the gold path at that step
    step_gap: float  # `chosen_move` - `gold_move`, nats; inf if gold's is forbidden


@dataclass(frozen=True)
class EntitySuspect:
    """One entity that only gold or only the prediction has."""

    sentence: int  # from 0
    span: Span
    in_gold: bool  # False: in the prediction
    probability: float  # p(entity | words)
    wrong: int  # position of the first wrong tag from the entity's start on

    @property
    def doubt(self) -> float:
        """The model's probability that gold is wrong here, in [0, 1]."""
        return 1.0 - self.probability if self.in_gold else self.probability

    @property
    def order(self) -> tuple[float, ...]:
        """Sort key: the most suspect entity first."""
        return -self.doubt, self.sentence, self.span.start, float(self.in_gold)


@dataclass(frozen=True)
class JudgedEntities:
    """The entities of one sentence."""

    predicted: list[tuple[float, bool]]  # probability, and whether gold has the entity
    suspects: list[EntitySuspect]


def find_errors(
    chains: Sequence[Potentials],
    best: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int]],
    sums: Sequence[Posterior],
    first: int = 0,
) -> list[list[Error]]:
    """Return the errors of the best path of each sentence, in the order of the words.

    Args:
        chains: the chains of the sentences.
        best: their best paths.
        gold: their gold paths.
        sums: their posteriors.
        first: number of the first sentence, from 0.
    """
    runs = [wrong_runs(*paths) for paths in zip(best, gold, strict=True)]
    places = [(number, run) for number, of_one in enumerate(runs) for run in of_one]
    targets = [put_right(best[number], gold[number], run) for number, run in places]
    cases = [
        (chains[number], target, best[number])
        for (number, _), target in zip(places, targets, strict=True)
    ]
    errors: list[list[Error]] = [[] for _ in chains]
    for case, (number, run), verdict in zip(cases, places, triages(cases), strict=True):
        shares = [
            run_probability(case[0], sums[number], run, path)
            for path in (gold[number], best[number])
        ]
        errors[number].append(_error(case, run, verdict, shares, first + number))
    return errors


def judge_entities(
    chain: Potentials, best: Sequence[int], gold: Sequence[int], sentence: int = 0
) -> JudgedEntities:
    """Return the best path's entities with probabilities, and entities that one side lacks."""
    scheme = entity_scheme(chain.tag_names) or BIO
    guessed, right = (
        spans([chain.tag_names[tag] for tag in path], scheme) for path in (best, gold)
    )
    predicted = [(_probability(chain, span), span in right) for span in guessed]

    def wrong(span: Span) -> int:
        later = range(span.start, len(gold))
        return next((t for t in later if best[t] != gold[t]), span.start)

    suspects = [
        EntitySuspect(sentence, span, False, p, wrong(span))
        for span, (p, is_right) in zip(guessed, predicted, strict=True)
        if not is_right
    ]
    suspects += [
        EntitySuspect(sentence, span, True, _probability(chain, span), wrong(span))
        for span in right
        if span not in guessed
    ]
    return JudgedEntities(predicted, suspects)


def _error(
    case: tuple[Potentials, Sequence[int], Sequence[int]],
    run: range,
    verdict: Triage,
    shares: Sequence[float],
    sentence: int,
) -> Error:
    potentials, target, best = case
    names = potentials.tag_names
    steps = lead(potentials, best, target).transition_terms
    step = run.start + int(np.argmax(steps[run.start : run.stop + 1]))
    return Error(
        sentence=sentence,
        first=run.start,
        last=run.stop - 1,
        gold=tuple(names[target[t]] for t in run),
        predicted=tuple(names[best[t]] for t in run),
        triage=verdict,
        gold_probability=shares[0],
        predicted_probability=shares[1],
        chosen_move=path_moves(names, best)[step],
        gold_move=path_moves(names, target)[step],
        step_gap=float(steps[step]),
    )


def _probability(chain: Potentials, span: Span) -> float:
    return entity_probability(chain, span.start, span.end - 1, span.type)


def words_in_context(words: Sequence[str], first: int, last: int) -> str:
    """Return some words in brackets, with their neighbours.

    >>> words_in_context("so we walked home slowly in the rain".split(), 4, 4)
    '… we walked home [slowly] in the rain'
    """
    before, after = words[:first], words[last + 1 :]
    parts = [
        *["…"][: len(before) > NEIGHBOURS],
        *before[-NEIGHBOURS:],
        f"[{' '.join(words[first : last + 1])}]",
        *after[:NEIGHBOURS],
        *["…"][: len(after) > NEIGHBOURS],
    ]
    return " ".join(parts)


def error_table(errors: Sequence[Error], sentences: Mapping[int, Sentence]) -> Table:
    """Return one row for each error, with the words; sentences and positions count from 1."""
    return [
        {
            "sentence": error.sentence + 1,
            "position": error.first + 1,
            "words": " ".join(words[error.first : error.last + 1]),
            "around": words_in_context(words, error.first, error.last),
            "gold": " ".join(error.gold),
            "predicted": " ".join(error.predicted),
            "kind": error.triage.kind,
            "gap": error.triage.gap,
            "emission_gap": error.triage.emission_gap,
            "transition_gap": error.triage.transition_gap,
            "emission_change": error.triage.emission_change,
            "transition_change": error.triage.transition_change,
            "p_gold": error.gold_probability,
            "p_predicted": error.predicted_probability,
            "text": " ".join(words),
        }
        for error in errors
        for words in [sentences[error.sentence].tokens]
    ]


def entity_suspect_table(
    suspects: Sequence[EntitySuspect], sentences: Mapping[int, Sentence]
) -> Table:
    """Return one row for each suspect; sentences and positions count from 1."""
    return [
        {
            "sentence": suspect.sentence + 1,
            "position": suspect.span.start + 1,
            "words": " ".join(words[suspect.span.start : suspect.span.end]),
            "around": words_in_context(words, suspect.span.start, suspect.span.end - 1),
            "type": suspect.span.type,
            "only_in": "gold" if suspect.in_gold else "prediction",
            "p_entity": suspect.probability,
            "doubt": suspect.doubt,
            "text": " ".join(words),
        }
        for suspect in suspects
        for words in [sentences[suspect.sentence].tokens]
    ]


def suspicion_of(row: TableRow) -> tuple[float, ...]:
    """Return the sort key of an error row; same order as `results.suspicion`."""
    p_gold, p_predicted, *place = (
        float(row[name] or 0) for name in ("p_gold", "p_predicted", "sentence", "position")
    )
    return p_gold, -p_predicted, *place


def doubt_of(row: TableRow) -> tuple[float, ...]:
    """Return the sort key of a suspected entity's row; same order as `EntitySuspect.order`."""
    doubt, *place = (float(row[name] or 0) for name in ("doubt", "sentence", "position"))
    return -doubt, *place, float(row["only_in"] == "gold")
