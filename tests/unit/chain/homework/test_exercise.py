"""Exercises: answered by loops that share no code with crfviz, and by programs with known bugs."""

import math
from fractions import Fraction
from itertools import count, product

import numpy as np
import pytest
import torch

import crfviz
from crfviz import CrfvizError
from crfviz.chain.homework.bugs import example_table, known_bugs
from tests.support.student import Student

KINDS = ("alpha", "beta", "viterbi")
SIZES = ((3, 3), (3, 2), (4, 3), (5, 4))
EXERCISES = [(kind, seed, *SIZES[seed % 4]) for kind in KINDS for seed in range(8)]


def answers(task):
    """What a student without a mistake answers, in the order of the steps."""
    student = Student(task.potentials)
    table = student.table(task.kind)
    T, K = student.T, student.K
    way = 1 if task.kind == "beta" else -1
    path = max(
        (list(map(int, np.unravel_index(n, [K] * T))) for n in range(K**T)),
        key=task.potentials.score,
    )
    for step in task.steps:
        t, k = step.cell
        if step.kind == "write":
            yield (t, k)
        elif step.kind == "read":
            yield [(t + way, j) for j in range(K)] if 0 <= t + way < T else []
        elif step.kind == "value":
            yield table[t][k]
        elif step.kind == "pointer":
            yield max(range(K), key=lambda j: table[t - 1][j] + student.w[j][k])
        else:
            yield path[t]


@pytest.mark.parametrize(("kind", "seed", "words", "tags"), EXERCISES)
def test_independent_recursion_answers_every_step(kind, seed, words, tags):
    task = crfviz.exercise(kind, seed, words, tags)
    assert (task.kind, task.seed) == (kind, seed)
    assert task.potentials.emissions.shape == (words, tags)
    assert 12 <= len(task.steps) <= 20
    for n, (step, answer) in enumerate(zip(task.steps, answers(task), strict=True)):
        close = pytest.approx(answer, abs=1e-9) if step.kind == "value" else answer
        assert step.answer == close
        verdict = task.check(n, answer)
        assert (verdict.right, verdict.mistake) == (True, ""), (step, verdict)
        assert verdict.why
        assert step.question.endswith("?")
    columns = {step.cell[0] for step in task.steps}
    assert {0, words - 1} < columns
    assert columns - set(range(words)) == {"alpha": {words}, "beta": {-1}, "viterbi": set()}[kind]
    assert len({step.cell for step in task.steps if step.kind == "value"}) >= 4
    assert "START" in str(task.steps)
    assert "END" in str(task.steps)


@pytest.mark.parametrize("kind", ["alpha", "beta"])
@pytest.mark.parametrize("seed", range(8))
def test_sweep_ends_with_z_from_the_last_column_and_end_or_start(kind, seed):
    task = crfviz.exercise(kind, seed, *SIZES[seed % 4])
    T, K = task.potentials.emissions.shape
    n, step = len(task.steps) - 1, task.steps[-1]
    column = T - 1 if kind == "alpha" else 0
    assert (step.kind, step.cell) == ("read", (T, 0) if kind == "alpha" else (-1, 0))
    assert ("END" if kind == "alpha" else "START") in step.question
    every = [task.potentials.score(path) for path in product(range(K), repeat=T)]
    whole = sum(map(math.exp, every))
    cells = [(column, k) for k in range(K)]
    shown = float(task.check(n, cells).why.rpartition("= ")[2])
    assert shown == pytest.approx(whole, abs=0.0051)  # two decimals; a half may go either way
    assert task.check(n, cells[1:]).mistake == "cells missing"
    assert task.check(n, [(1, 0)]).mistake == "cells too far"
    assert not task.check(n, []).right
    assert task.filled(n) == {(t, k) for t in range(T) for k in range(K)}


@pytest.mark.parametrize(("kind", "seed", "words", "tags"), EXERCISES)
def test_numbers_suit_the_head_and_the_best_path_is_alone(kind, seed, words, tags):
    potentials = crfviz.exercise(kind, seed, words, tags).potentials
    scores = np.concatenate([part.flatten() for part in potentials.scores()])
    if kind != "viterbi":
        doubled = 2 * np.exp(scores)
        assert doubled == pytest.approx(doubled.round(), abs=1e-9)
        assert 1 <= doubled.min() <= doubled.max() <= 24
        return
    assert (2 * scores == (2 * scores).round()).all()
    assert np.abs(scores).max() <= 12
    best, second = crfviz.k_best(potentials, 2)
    assert best.score - second.score >= 0.5


def test_same_seed_gives_the_same_numbers_and_another_seed_others():
    scores = [crfviz.exercise("beta", seed).potentials.emissions for seed in (3, 4)]
    assert not torch.equal(*scores)
    crfviz.chain.homework.exercise._drawn.cache_clear()
    assert torch.equal(scores[0], crfviz.exercise("beta", 3).potentials.emissions)


def wrong_values(task):
    """The value of every asked cell in the table of every buggy program, where it differs."""
    for bug in known_bugs(task.kind):
        try:
            table = example_table(task.potentials, task.kind, bug.name)
        except CrfvizError:
            continue  # it changes nothing here
        for n, step in enumerate(task.steps):
            if step.kind == "value" and math.isfinite(wrong := float(table[step.cell])):
                yield n, bug.name, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_nine_of_ten_mistakes_of_buggy_programs_are_named(kind):
    named = []
    for seed in range(6):
        task = crfviz.exercise(kind, seed)
        for n, name, wrong in wrong_values(task):
            right = task.steps[n].answer
            if abs(wrong - right) < 1e-9 or abs(wrong - math.exp(right)) < 1e-9:
                continue  # it is the right number, or the right factor
            verdict = task.check(n, wrong)
            assert not verdict.right, (kind, seed, n, name, wrong)
            named.append(verdict.mistake == name)
    assert len(named) > 150
    assert sum(named) / len(named) >= 0.9


def by_hand(task, t, k):
    """Wrong values of one cell, from the right column before it, by the name of the mistake."""
    e, w, start, _ = (part.tolist() for part in task.potentials.scores())
    table = Student(task.potentials).table(task.kind)
    T, tags = len(e), range(len(start))

    def summed(terms):
        return math.log(sum(map(math.exp, terms)))

    right, other = (max, summed) if task.kind == "viterbi" else (summed, max)
    swap = "sum for max" if task.kind == "viterbi" else "max for sum"
    if task.kind == "beta":
        if t == T - 1:
            return {"end score forgotten": 0.0}
        after = [e[t + 1][j] + table[t + 1][j] for j in tags]
        return {
            swap: other([w[k][j] + after[j] for j in tags]),
            "transposed matrix": right([w[j][k] + after[j] for j in tags]),
            "transitions forgotten": right(after),
            "emission left out": right([w[k][j] + table[t + 1][j] for j in tags]),
            "emission added twice": right([w[k][j] + after[j] + e[t + 1][j] for j in tags]),
        }
    if t == 0:
        return {
            "start forgotten": e[0][k],
            "emission left out": start[k],
            "emission added twice": start[k] + 2 * e[0][k],
            "emission of another word": start[k] + e[1][k],
        }
    before = [table[t - 1][j] + w[j][k] for j in tags]
    return {
        swap: other(before) + e[t][k],
        "transposed matrix": right([table[t - 1][j] + w[k][j] for j in tags]) + e[t][k],
        "transitions forgotten": right(table[t - 1]) + e[t][k],
        "emission left out": right(before),
        "emission added twice": right(before) + 2 * e[t][k],
        "emission of another word": right(before) + e[t - 1][k],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_nine_of_ten_slips_in_a_single_cell_are_named_in_nats_and_factors(kind):
    named = []
    for seed in range(6):
        task = crfviz.exercise(kind, seed)
        for n, step in enumerate(task.steps):
            slips = by_hand(task, *step.cell) if step.kind == "value" else {}
            for name, wrong in slips.items():
                if abs(wrong - step.answer) < 1e-9:
                    continue
                for answer in (wrong, str(round(math.exp(wrong), 2))):
                    verdict = task.check(n, answer)
                    assert not verdict.right
                    named.append(verdict.mistake == name)
    assert sum(named) / len(named) >= 0.9


def test_wrong_value_shows_the_arithmetic_of_the_mistake():
    task = crfviz.exercise("viterbi", 7)
    n = next(n for n, step in enumerate(task.steps) if step.kind == "value" and step.cell[0] == 1)
    t, k = task.steps[n].cell
    wrong = by_hand(task, t, k)["emission left out"]
    verdict = task.check(n, wrong)
    assert verdict.mistake == "emission left out"
    assert f"= {wrong:g}".replace("-", "−") in verdict.why
    assert verdict.why.count("max(") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_value_counts_in_nats_and_factors_as_number_and_text(kind):
    task = crfviz.exercise(kind, 5)
    for n, step in enumerate(task.steps):
        if step.kind != "value":
            continue
        factor = math.exp(step.answer)
        texts = (f"{step.answer:.2f}", f" {factor:.2f} ".replace(".", ","), f"{factor:.9f}")
        signed = f"{step.answer:.2f}".replace("-", "−")
        exact = Fraction(round(factor * 64), 64)
        for answer in (step.answer, factor, round(factor, 2), np.float32(factor), *texts, signed):
            assert task.check(n, answer).right, (step, answer)
        if kind != "viterbi":
            assert task.check(n, f"{exact.numerator}/{exact.denominator}").right
        assert not task.check(n, factor + 0.26).right


NONSENSE = [None, "", "?", "nan", "inf", "1e999", 10**400, True, [], {}, (1,), "1/0", object(),
            [(0,)], [(0, 0), 3], "0,0,0", "9,9", (-1, 0), (0.5, 1), math.nan, b"1", 1j, "x" * 10**6,
            [[0, 0], [0, 99]], torch.zeros(2, 2), "NOWN", -1, 99, False, "[]", " ", b"",
            {(0, 0): 1}, range(0), iter(()), np.array([]), torch.zeros(0, 2), [[]],
            ((),), (True, False), [[True, False]], [(False, True), (0, 0)], bytearray(b"3"),
            memoryview(b"3"), {0: 0, 1: 1}, {"a": 1}, "1" * 10**6, range(10**12), count(),
            [(0, 0)] * 10**5, np.zeros((500, 500)), np.array([True, False]), "\ud800",
            "\0"]  # fmt: skip


class Hostile:
    def __float__(self):
        raise KeyError

    def __index__(self):
        raise AttributeError

    def __iter__(self):
        raise OSError


@pytest.mark.parametrize("kind", KINDS)
def test_object_that_raises_is_a_wrong_answer(kind):
    task = crfviz.exercise(kind, 2)
    for n in range(len(task.steps)):
        for answer in (Hostile(), [Hostile()], [(Hostile(), 0)]):
            verdict = task.check(n, answer)
            assert not verdict.right
            assert verdict.why


@pytest.mark.parametrize("kind", KINDS)
def test_nonsense_is_wrong_and_never_an_exception(kind):
    task = crfviz.exercise(kind, 2)
    for n, step in enumerate(task.steps):
        for answer in NONSENSE:
            if step.answer == [] and isinstance(answer, list) and not answer:
                continue  # no cell is what this one is computed from
            verdict = task.check(n, answer)
            assert not verdict.right, (step, answer)
            assert verdict.why


def test_cells_count_as_tuples_lists_and_texts_in_any_order():
    task = crfviz.exercise("alpha", 1)
    n = next(n for n, step in enumerate(task.steps) if step.kind == "read" and step.answer)
    cells = task.steps[n].answer
    text = " ".join(f"{t},{k}" for t, k in cells)
    lists = [cells, cells[::-1], [list(cell) for cell in cells], set(cells), frozenset(cells)]
    for answer in (*lists, tuple(cells), text, np.array(cells), torch.tensor(cells)):
        assert task.check(n, answer).right
    edge = next(n for n, step in enumerate(task.steps) if step.answer == [])
    for nothing in ([], (), set(), frozenset(), "none", " none "):
        assert task.check(edge, nothing).right
    assert task.check(n, cells[1:]).mistake == "cells missing"
    own = [task.steps[n].cell]
    assert task.check(n, own).mistake == "own column"
    assert task.check(n - 1, str(own[0]).strip("()").replace(" ", "")).right


def test_write_is_the_only_empty_cell_whose_inputs_are_filled():
    for kind in KINDS:
        task = crfviz.exercise(kind, 4, 4, 3)
        T, K = task.potentials.emissions.shape
        cells = {(t, k) for t in range(T) for k in range(K)}
        for n, step in enumerate(task.steps):
            filled = task.filled(n)
            needed = [(step.cell[0] + (1 if kind == "beta" else -1), k) for k in range(K)]
            assert cells & {*needed} <= filled
            assert step.kind not in ("write", "value", "read") or step.cell not in filled
            if step.kind == "write":
                for other in cells - {step.cell}:
                    verdict = task.check(n, other)
                    assert verdict.mistake == (
                        "already computed" if other in filled else "too early"
                    )
        assert task.filled(len(task.steps)) == cells


def test_best_path_without_end_is_named():
    for seed in range(8):
        task = crfviz.exercise("viterbi", seed)
        n = next(n for n, step in enumerate(task.steps) if step.kind == "path")
        last = Student(task.potentials).table("viterbi")[-1]
        verdict = task.check(n, last.index(max(last)))
        assert (verdict.right, verdict.mistake) == (False, "end score forgotten")


def test_replay_counts_first_answers_and_shows_after_two_wrong_ones():
    task = crfviz.exercise("viterbi", 7)
    right = [
        " ".join(f"{t},{k}" for t, k in ([step.answer] if step.kind == "write" else step.answer))
        or "none"
        if step.kind in ("write", "read")
        else str(step.answer)
        for step in task.steps
    ]
    whole = task.replay(";".join(right))
    assert (whole.step, whole.score) == (len(task.steps), len(task.steps))
    assert task.replay("").step == 0
    assert task.replay("?").step == 0  # nothing is shown before two wrong answers
    shown = task.replay(["99", "?", "98", "?", *right[1:]])
    assert (shown.step, shown.score, shown.first[0]) == (
        len(task.steps),
        len(task.steps) - 1,
        False,
    )
    once = task.replay(["99", right[0], right[1]])
    assert (once.step, once.first, once.verdict.right) == (2, (False, True), True)


@pytest.mark.parametrize(
    ("kind", "seed", "words", "tags"),
    [
        ("gamma", 0, 3, 3),
        (None, 0, 3, 3),
        (["alpha"], 0, 3, 3),
        ("alpha", -1, 3, 3),
        ("alpha", 1.5, 3, 3),
        ("alpha", 10**7, 3, 3),
        ("alpha", 0, 2, 3),
        ("alpha", 0, 3, 1),
        ("alpha", 0, 6, 3),
        ("alpha", 0, 3, "3"),
        ("alpha", True, 3, 3),
    ],
)
def test_unknown_kinds_and_sizes_are_refused(kind, seed, words, tags):
    with pytest.raises(CrfvizError, match=r"expected|must be"):
        crfviz.exercise(kind, seed, words, tags)


@pytest.mark.parametrize("n", [-1, 13, "0", None, 0.0])
def test_unknown_steps_are_refused(n):
    with pytest.raises(CrfvizError, match="step"):
        crfviz.exercise("alpha", 0).check(n, 1.0)
