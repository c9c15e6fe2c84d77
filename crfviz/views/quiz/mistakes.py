"""What the mistakes that Homework knows come to: numbers, tags, and how each is worked out.

Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from crfviz.chain.homework.bugs import Bug, known_bugs
from crfviz.chain.homework.programs import BETA, VITERBI, Program, right_program
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum
from crfviz.views.numbers import added, score

MACHINES = {  # mistakes that nobody makes by hand
    "overflow",
    "underflow",
    "-10000 leaking",
    "mask ignored",
    "wrong axis normalised",
    "missing log",
    "maximum not added back",
}

SHOWN = 3  # terms of a sum that are written out; the others are "…"
OPERATORS = (("log Σ exp", logsumexp), ("max", maximum), ("Σ", lambda terms, axis: terms.sum(axis)))


def slips(potentials: Potentials, kind: str) -> Iterator[tuple[Bug, Program]]:
    """The mistakes of people in one kind of table, the likelier ones first, each with a program."""
    right = right_program(potentials, kind)
    for bug in known_bugs(kind):
        if bug.name not in MACHINES:
            yield from ((bug, mutant) for mutant in bug.mutants(right))


def forgotten_end(potentials: Potentials) -> tuple[Bug, Program]:
    """The best path without the end scores; in its table it does not show, but in the path."""
    bug = next(bug for bug in known_bugs(BETA) if bug.name == "end score forgotten")
    (mutant,) = bug.mutants(right_program(potentials, VITERBI))
    return bug, mutant


def through(potentials: Potentials) -> Array:
    """(T, K) the score of the best path through each tag, -inf where none is allowed."""
    before = right_program(potentials, VITERBI).printed(VITERBI)
    after = replace(right_program(potentials, BETA), reduce=maximum).printed(BETA)
    return np.asarray(before + after)


def path_of(program: Program) -> list[int] | None:
    """The T tag ids that a program with a table of Viterbi reads back; None where it breaks off."""
    table = program.printed(VITERBI)
    last = table[len(program.emissions) - 1] + program.end
    if not np.isfinite(last).any() or np.isnan(last).any():
        return None
    pointers = program.choices().argmax(2)
    path = [int(last.argmax())]
    for t in range(len(program.emissions) - 1, 0, -1):
        path.append(int(pointers[t, path[-1]]))
    return path[::-1]


def worked_out(program: Program, kind: str, t: int, k: int, right: float) -> str:
    """The arithmetic of one cell of a table of α, β or Viterbi, as the program does it."""
    value = float(program.printed(kind)[t, k])
    terms, own = terms_of(program, kind, t, k)
    for name, reduce in OPERATORS:
        with np.errstate(all="ignore"):
            made = float(reduce(terms, 0)) + (own or 0.0) if terms.size else math.nan
        if terms.size and math.isclose(made, value, rel_tol=1e-9, abs_tol=1e-9):
            return f"{formula(name, terms, own)} = {score(value, 1)}"
    return f"{score(right)} {added(value - right)} = {score(value, 1)}"


def terms_of(program: Program, kind: str, t: int, k: int) -> tuple[Array, float | None]:
    """What a cell reduces, (K,) or one number, and the emission added to it; in nats."""
    table = program.printed(kind)
    T = len(program.emissions)
    if kind == BETA:
        if t >= T - 1 or t + 1 >= len(table):
            return program.end[k : k + 1], None
        return program.steps[t][k] + program.emissions[t + 1] + table[t + 1], None
    own = float(program.emissions[t, k])
    if t == 0:
        return program.start[k : k + 1], own
    return table[t - 1] + program.steps[t - 1][:, k], own


def formula(name: str, terms: Array, own: float | None) -> str:
    """A sum or a maximum written out, its largest terms first."""
    finite = np.sort(terms[np.isfinite(terms)])[::-1]
    texts = [score(float(term)) for term in finite[:SHOWN]]
    if len(finite) > SHOWN:
        texts.append("…")
    inside = ", ".join(texts)
    whole = inside if len(finite) == 1 else f"{name}({inside})"
    return whole if own is None else f"{whole} {added(own)}"
