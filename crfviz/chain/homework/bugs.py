"""The mistakes that programs for a linear-chain CRF make, with the tables they produce.

Whoever finds a table that a program with one of them prints has found the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crfviz.chain.homework import mutants
from crfviz.chain.homework.programs import (
    ALPHA,
    BACKPOINTERS,
    BETA,
    KINDS,
    VITERBI,
    Program,
)

MASK_IGNORED = "mask ignored"
MISPLACED = "backpointer off by one"


@dataclass(frozen=True)
class Bug:
    """One known mistake."""

    name: str
    explanation: str  # what such a program does, and what to do about it
    kinds: tuple[str, ...]  # of the tables in which it can show
    mutants: Callable[[Program], Iterator[Program]]


FORWARD = (ALPHA, VITERBI, BACKPOINTERS)
TABLES = (ALPHA, BETA, VITERBI)
CATALOGUE = (
    Bug(
        "end score forgotten",
        "The sweep begins with 0 instead of the end scores. Start β at the last word with end(k).",
        (BETA,),
        mutants.end_forgotten,
    ),
    Bug(
        "start forgotten",
        "The first word has its emissions alone. Add start(k) there.",
        FORWARD,
        mutants.start_forgotten,
    ),
    Bug(
        "transposed matrix",
        "w is read as [to, from]. Here it is [from, to]: swap the two indices.",
        KINDS,
        mutants.transposed,
    ),
    Bug(
        "max for sum",
        "The paths that meet in a tag are not summed, only the best one is kept, as in Viterbi. "
        "Take log Σ exp.",
        (ALPHA, BETA),
        mutants.max_for_sum,
    ),
    Bug(
        "sum for max",
        "All paths that meet in a tag are summed, as in the forward table. Keep the best one only.",
        (VITERBI, BACKPOINTERS),
        mutants.sum_for_max,
    ),
    Bug(
        "emission added twice",
        "The emission of a word counts twice. Add it once, and not again when the table is read.",
        KINDS,
        mutants.emission_twice,
    ),
    Bug(
        "emission left out",
        "The emission of a word is missing from the step.",
        KINDS,
        mutants.emission_left_out,
    ),
    Bug(
        "beta off by one",
        "β at t is that of a neighbour, or takes the emission of t instead of t+1. "
        "β at t holds what comes after t.",
        (BETA,),
        mutants.beta_off_by_one,
    ),
    Bug(
        MISPLACED,
        "The pointers are one place off: in the word they belong to, or in the counting of tags. "
        "Row t names the tag at t−1, tags count from 0.",
        (BACKPOINTERS,),
        lambda right: iter([right]),  # `homework_readings.misplaced` has them
    ),
    Bug(
        MASK_IGNORED,
        "Padding, or a forbidden move, takes part in the sum. Hold the table still after the last "
        "word, and keep −∞ where something is forbidden.",
        KINDS,
        mutants.padding_read,
    ),
    Bug(
        "-10000 leaking",
        "A finite number stands for “forbidden” and adds up with real scores. Use −∞.",
        KINDS,
        mutants.finite_infinity,
    ),
    Bug(
        "wrong axis normalised",
        "A sum runs over the wrong axis: over the positions, or over the tags moved to. Only the "
        "tags of one word may be made to sum to 1.",
        KINDS,
        mutants.wrong_axis,
    ),
    Bug(
        "missing log",
        "A number that should be a logarithm is not: a sum of exp without log, or probabilities "
        "added as if they were scores.",
        KINDS,
        mutants.missing_log,
    ),
    Bug(
        "missing exp",
        "Scores are summed as they are. Take exp before the sum and log after it.",
        (ALPHA, BETA),
        mutants.missing_exp,
    ),
    Bug(
        "maximum not added back",
        "log Σ exp(a − max) lacks the maximum. Add it after the logarithm.",
        (ALPHA, BETA),
        mutants.maximum_lost,
    ),
    Bug(
        "transitions forgotten",
        "The step from word to word has no transition score.",
        KINDS,
        mutants.transitions_forgotten,
    ),
    Bug(
        "emission of another word",
        "The emissions are read one word too early or too late.",
        FORWARD,
        mutants.wrong_word,
    ),
    Bug(
        "end score in the table",
        "The end scores are in the last row. They belong to Z and to the last choice alone.",
        (ALPHA, VITERBI),
        mutants.end_in_table,
    ),
    Bug(
        "table off by one",
        "Every row stands one word too early or too late.",
        FORWARD,
        mutants.shifted,
    ),
    Bug(
        "overflow",
        "exp of a score is too large for its type and became ∞. Stay in log space.",
        TABLES,
        mutants.overflow,
    ),
    Bug(
        "underflow",
        "Products of probabilities became 0 before the logarithm was taken. Stay in log space.",
        TABLES,
        mutants.underflow,
    ),
)


def known_bugs(kind: str) -> list[Bug]:
    """The bugs that can show in one kind of table, the likelier ones first."""
    return [bug for bug in CATALOGUE if kind in bug.kinds]
