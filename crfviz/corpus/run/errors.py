"""The errors of a sentence, each with what is to blame for it.

An error is a longest run of words whose Viterbi tags differ from gold. It is set right alone: the
target of its triage (`crfviz.chain.questions.triage`) is the Viterbi path with gold on these words
and nothing else changed. So the gaps of a sentence's errors add up to that of its gold path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crfviz.chain.paths import lead
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import pin_probability
from crfviz.chain.questions.triage import Triage, put_right, triage, wrong_runs
from crfviz.chain.weights import Move, path_moves


@dataclass(frozen=True)
class Error:
    """One wrong run of words."""

    sentence: int  # from 0
    first: int  # position of its first word, where the wrong path leaves gold
    last: int  # position of its last word
    gold: tuple[str, ...]  # the right tags of these words
    predicted: tuple[str, ...]  # the tags of the Viterbi path
    triage: Triage
    gold_probability: float  # that these words have the gold tags, given the sentence
    predicted_probability: float  # that they have the predicted ones
    chosen_move: Move  # of the step that speaks most against gold: what the best path does there
    gold_move: Move  # and what gold does there
    step_gap: float  # what that step says for the best path; nats, inf where gold's is forbidden


def find_errors(
    potentials: Potentials, best: Sequence[int], gold: Sequence[int], sentence: int = 0
) -> list[Error]:
    """The errors of a best path, first word first.

    Args:
        potentials: scores of the sentence.
        best: T tag ids, its best path.
        gold: T tag ids.
        sentence: its number, to be kept with the errors.

    Raises:
        ShapeError: a path has not T tags.
    """
    return [_error(potentials, best, gold, run, sentence) for run in wrong_runs(best, gold)]


def _error(
    potentials: Potentials, best: Sequence[int], gold: Sequence[int], run: range, sentence: int
) -> Error:
    names = potentials.tag_names
    target = put_right(best, gold, run)
    steps = lead(potentials, best, target).transition_terms
    step = run.start + int(np.argmax(steps[run.start : run.stop + 1]))
    return Error(
        sentence=sentence,
        first=run.start,
        last=run.stop - 1,
        gold=tuple(names[gold[t]] for t in run),
        predicted=tuple(names[best[t]] for t in run),
        triage=triage(potentials, target, best),
        gold_probability=pin_probability(potentials, {t: int(gold[t]) for t in run}),
        predicted_probability=pin_probability(potentials, {t: int(best[t]) for t in run}),
        chosen_move=path_moves(names, best)[step],
        gold_move=path_moves(names, target)[step],
        step_gap=float(steps[step]),
    )
