"""Exercises: carry out the forward, backward or Viterbi recursion step by step, graded at once.

An exercise is a small chain with numbers for the head, and the steps of one recursion on it: which
cell comes next, what it is computed from, its value, its backpointer, and the best path read back.
Three columns are asked: the first word, one in the middle, the last. The other cells are given.
Last comes where the sweep ends: the best path, or Z at END (α) or START (β), which have no column:
their cells are (T, 0) and (-1, 0).

Letters: `T` tokens, `K` tags.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random

import numpy as np

from crfviz.chain.homework.answers import (
    Slip,
    Verdict,
    factor,
    fits,
    grade_cells,
    grade_tag,
    grade_value,
    grade_write,
    known_slips,
    slip_of,
    sum_of_column,
)
from crfviz.chain.homework.programs import ALPHA, BETA, NEAR, VITERBI, Program, right_program
from crfviz.chain.potentials import Array, Potentials
from crfviz.chain.recursions import logsumexp, maximum
from crfviz.chain.validation import require_count
from crfviz.exceptions import CrfvizError
from crfviz.text.files import abbreviate_value

KINDS = (ALPHA, BETA, VITERBI)
WRITE, READ, VALUE, POINTER, PATH = "write", "read", "value", "pointer", "path"  # kinds of steps
WORDS, TAGS = ("we", "can", "fish", "here", "now"), ("NOUN", "VERB", "AUX", "ADV")
MIN_WORDS, MIN_TAGS = 3, 2
MAX_SEED = 999_999
SHOW_ME = "?"  # in place of an answer: fill it in
WRONG_BEFORE_SHOWN = 2  # wrong answers after which "show me" is offered
BETWEEN = ";"  # between the answers of `Exercise.replay`
LETTERS = {ALPHA: "α", BETA: "β", VITERBI: "best"}
LEAST, MOST = 0.5, 12.0  # of a score of Viterbi
_DRAFTS = 40  # number of chains drawn, of which the best is taken
_NAMED = 0.96  # share of named mistakes at which a chain is good enough
_LARGEST = 60.0  # value of a sum of products that is easy
# Scores of Viterbi, nats: steps, START and END. 0 would hide a mistake.
_SCORES = (-2.5, -2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 2.5)
# Factors of sums: START and END are unlike emissions, so that their mistakes differ.
_EDGES, _EMISSIONS, _MOVES = (3.0, 4.0, 5.0, 6.0), (0.5, 0.5, 1.5, 2.0, 2.5), (0.5, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Step:
    """One question of an exercise."""

    kind: str  # "write", "read", "value", "pointer" or "path"
    cell: tuple[int, int]  # position and tag id, from 0; (T, 0) is END and (-1, 0) is START
    question: str  # one sentence
    # the cell; a list of cells; nats; the id of the previous tag; the id of the word's tag
    answer: tuple[int, int] | list[tuple[int, int]] | float | int


@dataclass(frozen=True)
class Progress:
    """The state of an exercise after some answers."""

    step: int  # number of the current step, from 0; the number of steps at the end
    first: tuple[bool, ...]  # for each step so far, whether the first answer was right
    wrong: int  # number of wrong answers to the current step
    verdict: Verdict | None  # on the last answer; None if it was shown, or before the first

    @property
    def score(self) -> int:
        """The number of steps whose first answer was right."""
        return sum(self.first)


@dataclass(frozen=True, eq=False)
class Exercise:
    """A chain and the steps of one recursion on it; see `exercise`."""

    kind: str  # "alpha", "beta" or "viterbi"
    seed: int
    potentials: Potentials
    steps: Sequence[Step]

    @cached_property
    def program(self) -> Program:
        """The right program, whose table the steps fill."""
        return right_program(self.potentials, self.kind)

    @cached_property
    def slips(self) -> Sequence[Slip]:
        """The known mistakes with their tables."""
        return known_slips(self.program, self.kind)

    @property
    def table(self) -> Array:
        """(T, K) the right table, nats."""
        return self.program.printed(self.kind)

    @property
    def way(self) -> int:
        """The position that a cell is computed from, minus its own."""
        return 1 if self.kind == BETA else -1

    @property
    def arithmetic_of_z(self) -> str:
        """The sum of the factors of all paths, from the last column of the sweep."""
        return sum_of_column(self.program, self.kind, self.table)

    def check(self, n: int, answer: object) -> Verdict:
        """Grade an answer to a step.

        Args:
            n: number of the step, from 0.
            answer: the cell as (t, k), a list of cells, a number, or a tag id; also as text:
                "1,0", "0,0 0,1", "7/2", "2". A value counts in nats and as a factor exp(score),
                rounded to two places. Nonsense is wrong.

        Raises:
            CrfvizError: there is no such step.
        """
        number = self._number(n)
        step, before = self.steps[number], self.steps[number - 1]
        if step.kind == VALUE:
            return grade_value(self.program, self.kind, step.cell, answer, self.slips)
        if step.kind in (POINTER, PATH):
            last = step.kind == PATH and before.kind != PATH
            at = None if last else step.cell if step.kind == POINTER else before.cell
            return grade_tag(self.program, at, answer, self.potentials.tag_names)
        grade = grade_write if step.kind == WRITE else grade_cells
        verdict = grade(self.way, step.cell, answer, self.table.shape)
        is_sum = verdict.right and not 0 <= step.cell[0] < len(self.table)
        return replace(verdict, why=self.arithmetic_of_z) if is_sum else verdict

    def filled(self, n: int) -> set[tuple[int, int]]:
        """Return the cells that are on the screen at step `n`; all at the end.

        Raises:
            CrfvizError: there is no such step.
        """
        T, K = self.table.shape
        here = T if n == len(self.steps) else self.steps[self._number(n)].cell[0]
        coming = {step.cell for step in self.steps[n:] if step.kind == VALUE}
        begun = {step.cell[0] for step in self.steps[:n] if step.kind == VALUE}
        swept = [t for t in range(T) if not coming or t in begun or (t - here) * self.way > 0]
        return {(t, k) for t in swept for k in range(K)} - coming

    def replay(self, tries: str | Iterable[str]) -> Progress:
        """Return where some answers lead, given in order, as texts or in one text.

        A wrong answer is followed by another answer to the same step. After two wrong ones, "?"
        shows the answer. Only the first answer to a step counts.

        Example:
            >>> exercise("alpha", 7).replay("0,0;1,1").step
            0
        """
        texts = tries.split(BETWEEN) if isinstance(tries, str) and tries else tries
        first: list[bool] = []
        step, wrong, verdict = 0, 0, None
        for text in texts:
            if step == len(self.steps):
                break
            shown = text == SHOW_ME
            if shown and wrong < WRONG_BEFORE_SHOWN:
                continue
            verdict = None if shown else self.check(step, text)
            if not wrong:
                first.append(verdict is not None and verdict.right)
            if shown or (verdict is not None and verdict.right):
                step, wrong = step + 1, 0
            else:
                wrong += 1
        return Progress(step, tuple(first), wrong, verdict)

    def _number(self, n: int) -> int:
        number = require_count("the number of the step", n, 0)
        if number >= len(self.steps):
            raise CrfvizError(f"expected a step from 0 to {len(self.steps) - 1}, got {number}")
        return number


@lru_cache(maxsize=64)
def _drawn(kind: str, seed: int, words: int, tags: int) -> Exercise:
    """Return the best of some chains: one whose mistakes give numbers of their own."""
    random = Random(f"{kind} {seed} {words} {tags}")
    best, most = None, 0.0
    drafts = 0
    while best is None or (drafts < _DRAFTS and most < _NAMED):
        scores = _scores(random, kind, words, tags)
        if not _is_easy(scores, kind):
            continue
        potentials = Potentials(*scores, tags=TAGS[:tags], tokens=WORDS[:words])
        found = Exercise(kind, seed, potentials, [])
        found = replace(found, steps=list(_steps(found, random)))
        if kind == VITERBI and any(not _leads(_before(found, step.cell)) for step in found.steps):
            continue
        drafts += 1
        share = _share_named(found)
        if share > most:
            best, most = found, share
    return best


def exercise(kind: str, seed: int = 0, words: int = 3, tags: int = 3) -> Exercise:
    """Return an exercise on a small random chain; the same arguments give the same one.

    The scores of Viterbi are halves. Those of α and β are logarithms of multiples of ½, so that
    every sum of products is a small number. No tie is asked.

    Args:
        kind: "alpha", "beta" or "viterbi".
        seed: 0 to 999,999; another seed gives other numbers.
        words: 3 to 5.
        tags: 2 to 4.

    Raises:
        CrfvizError: there is no such kind, seed or size.

    Example:
        >>> task = exercise("viterbi", 7)
        >>> task.steps[1].question
        'Which cell of best can be computed now?'
        >>> task.check(1, task.steps[1].answer).right
        True
    """
    if kind not in KINDS:
        raise CrfvizError(f"expected one of {', '.join(KINDS)}, got {abbreviate_value(kind)}")
    sizes = {
        "seed": (seed, 0, MAX_SEED),
        "words": (words, MIN_WORDS, len(WORDS)),
        "tags": (tags, MIN_TAGS, len(TAGS)),
    }
    for name, (value, least, largest) in sizes.items():
        if isinstance(value, bool) or require_count(name, value, least) > largest:
            raise CrfvizError(f"{name} must be {least} to {largest}, got {abbreviate_value(value)}")
    return _drawn(kind, int(seed), int(words), int(tags))


def _scores(random: Random, kind: str, T: int, K: int) -> tuple[Array, Array, Array, Array]:
    """Draw emissions, transitions, START and END of a chain."""

    def draw(values: Sequence[float], *shape: int) -> Array:
        # `random` alone gives the same numbers in every version of Python.
        picks = [values[int(random.random() * len(values))] for _ in range(math.prod(shape))]
        return np.array(picks).reshape(shape)

    if kind == VITERBI:  # longer sentences have smaller scores, so that no sum is large
        own, moves = [half / 2 for half in range(1, 10 - T)], _SCORES[: 16 - 2 * T]
        return draw(own, T, K), draw(moves, K, K), draw(_SCORES[-5:], K), draw(_SCORES, K)
    small = max(0, K * T // 3 - 3)  # larger tables have smaller factors
    words, steps = (_EMISSIONS[:1] * small + _EMISSIONS), (_MOVES[:1] * small + _MOVES)
    factors = draw(words, T, K), draw(steps, K, K), draw(_EDGES, K), draw(_EDGES, K)
    emissions, transitions, start, end = map(np.log, factors)
    return emissions, transitions, start, end


def _is_easy(scores: tuple[Array, Array, Array, Array], kind: str) -> bool:
    """Return whether the numbers suit the head, and END decides the best path."""
    emissions, transitions, start, end = scores
    steps = np.repeat(transitions[None], len(emissions) - 1, axis=0)
    reduce = maximum if kind == VITERBI else logsumexp
    table = Program(start, emissions, steps, end, reduce).printed(kind)
    if kind != VITERBI:
        factors = np.exp(table)
        quarters = len(emissions) > MIN_WORDS or np.allclose(factors * 4, (factors * 4).round())
        return bool(factors.max() <= _LARGEST and quarters)
    ends = table[-1] + end
    small = table.min() >= LEAST and max(table.max(), ends.max()) <= MOST
    return small and _leads(ends) and bool(ends.argmax() != table[-1].argmax())


def _before(found: Exercise, cell: tuple[int, int]) -> Array:
    """Return the (K,) scores of the ways into a cell; empty at the first word."""
    t, k = cell
    return found.table[t - 1] + found.program.steps[t - 1][:, k] if t else np.empty(0)


def _leads(values: Array) -> bool:
    """Return whether the largest value is alone."""
    return not len(values) or int((values == values.max()).sum()) == 1


def _share_named(found: Exercise) -> float:
    """Return the share of the known mistakes that a wrong value identifies; 0 if one passes."""
    named: list[bool] = []
    for cell in (step.cell for step in found.steps if step.kind == VALUE):
        right = float(found.table[cell])
        for slip in found.slips:
            value = float(slip.table[cell])
            if not math.isfinite(value) or abs(value - right) < NEAR:
                continue
            if abs(value - factor(right)) < NEAR:  # the factor itself, which is right
                continue
            if fits(right, value) or (slip.by_people and fits(right, round(factor(value), 2))):
                return 0.0
            if slip.main:
                likeliest = slip_of(found.slips, cell, value)
                named.append(likeliest is not None and likeliest.bug is slip.bug)
    return sum(named) / max(1, len(named))


def _steps(found: Exercise, random: Random) -> Iterator[Step]:
    """Yield the steps of the recursion: three columns, then the path."""
    kind, table, names = found.kind, found.table, found.potentials.tag_names
    words = found.potentials.tokens or ()
    T, K = table.shape
    columns = [0, 1 + int(random.random() * (T - 2)), T - 1]
    letter = LETTERS[kind]
    for t in columns[:: -found.way]:
        early = int(random.random() * K)
        k = (early + 1 + int(random.random() * (K - 1))) % K
        yield _value(found, t, early)
        yield Step(WRITE, (t, k), f"Which cell of {letter} can be computed now?", (t, k))
        inputs = [(t + found.way, j) for j in range(K)] if 0 <= t + found.way < T else []
        question = f"Which cells is {letter}(“{words[t]}”, {names[k]}) computed from?"
        yield Step(READ, (t, k), question, inputs)
        yield _value(found, t, k)
        if kind == VITERBI and t:
            pointer = int(found.program.choices()[t, k].argmax())
            question = f"Which tag of “{words[t - 1]}” is best before {names[k]} at “{words[t]}”?"
            yield Step(POINTER, (t, k), question, pointer)
    if kind == VITERBI:
        yield from _path(found, words)
    else:
        at, last, end = (-1, 0, "START") if kind == BETA else (T, T - 1, "END")
        question = f"Which cells is Z, the sum over all paths at {end}, computed from?"
        yield Step(READ, (at, 0), question, [(last, k) for k in range(K)])


def _value(found: Exercise, t: int, k: int) -> Step:
    words, name = found.potentials.tokens or (), found.potentials.tag_names[k]
    edge = ", the first word after START" if t == 0 else ""
    edge = ", the last word before END" if t == len(words) - 1 else edge
    question = f"What is {LETTERS[found.kind]} of {name} at “{words[t]}”{edge}?"
    return Step(VALUE, (t, k), question, float(found.table[t, k]))


def _path(found: Exercise, words: Sequence[str]) -> Iterator[Step]:
    tag = int((found.table[-1] + found.program.end).argmax())
    question = f"The best path ends before END: which tag does “{words[-1]}” have?"
    for t in range(len(words) - 1, -1, -1):
        yield Step(PATH, (t, tag), question, tag)
        if t:
            tag = int(found.program.choices()[t, tag].argmax())
            question = f"Read the best path back: which tag does “{words[t - 1]}” have?"
