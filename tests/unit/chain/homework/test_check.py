"""Tables with known mistakes, made by another program, and right tables in every notation."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.homework.bugs import CATALOGUE
from crfviz.chain.homework.check import check, check_table
from crfviz.chain.homework.programs import KINDS
from crfviz.chain.homework.readings import Rounding, coarsest, tolerance
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError
from tests.support.icecream import ice_cream
from tests.support.student import BUGS, Student

INF = math.inf
NAMES = sorted({name for name, _, _ in BUGS})
HUGE = {"no_log", "finite"}  # mistakes whose numbers exp does not survive
IDS = [f"{name}, {kind}, {next(iter(mistake))}" for name, kind, mistake in BUGS]


def random_chain(seed, num_tokens=5, num_tags=4, *, wall=False):
    """A chain without structure; with `wall`, a tag that nothing reaches at first nor leaves."""
    random = np.random.default_rng(seed)
    shapes = [(num_tokens, num_tags), (num_tags, num_tags), (num_tags,), (num_tags,)]
    e, w, s, f = (random.normal(scale=1.5, size=shape) for shape in shapes)
    if wall:
        s[1] = w[:, 1] = w[2, 3] = f[2] = -INF
    return Potentials(e, w, s, f, tags=["N", "V", "D", "P", "A"][:num_tags])


def first_difference(kind, table, right):
    """(t, k) by the definition: the first cell, in the order of the computation, that differs."""
    order = range(len(table))
    for t in reversed(order) if kind == "beta" else order:
        for k, value in enumerate(table[t]):
            expected = right[min(t, len(right) - 1)][k]
            if value != expected and not abs(value - expected) <= 1e-6:
                return t, k
    raise AssertionError("the mistake does not show")


@pytest.mark.parametrize(("name", "kind", "mistake"), BUGS, ids=IDS)
def test_check_finds_the_first_wrong_cell_and_the_bug(name, kind, mistake):
    for seed in range(2):
        chain = random_chain(seed, wall="finite" in mistake)
        table = Student(chain, **mistake).table(kind)
        right = Student(chain).table(kind)
        wrong = check_table(chain, kind, table)
        t, k = first_difference(kind, table, right)
        assert (wrong.position, wrong.tag, wrong.tag_name) == (t, k, chain.tags[k])
        assert wrong.found == pytest.approx(table[t][k])
        assert wrong.expected == pytest.approx(right[min(t, len(right) - 1)][k], abs=1e-9)
        assert wrong.bug == name


def test_catalogue_lists_every_tested_bug():
    assert set(NAMES) <= {bug.name for bug in CATALOGUE}
    assert len(NAMES) >= 12


@pytest.mark.parametrize(("name", "kind", "mistake"), BUGS, ids=IDS)
def test_bug_is_recognised_in_rounded_and_probability_tables(name, kind, mistake):
    chain = random_chain(3, wall="finite" in mistake)
    table = np.array(Student(chain, **mistake).table(kind))
    written = [table.round(2), table.round(4)]
    if kind in ("alpha", "beta") and not HUGE & mistake.keys():
        written.append(np.exp(table).T)
    for way in written:
        assert check_table(chain, kind, way).bug == name


def right_tables(chain):
    """Every table of a chain in every space and convention, as (kind, name, (R, K) array)."""
    student = Student(chain)
    alpha, beta = np.array(student.forward()), np.array(student.backward())
    moved = [
        [_joined(alpha[t - 1], student.w, k) for k in student.tags] for t in range(1, student.T)
    ]
    arriving = np.array([student.s, *moved])
    logs = {
        ("alpha", "included"): alpha,
        ("alpha", "arriving"): arriving,
        ("alpha", "messages"): arriving[1:],
        ("beta", "beta"): beta,
        ("viterbi", "best"): np.array(student.forward("max")),
    }
    for (kind, name), table in logs.items():
        yield kind, f"log {name}", table
        yield kind, f"probability {name}", np.exp(table)
        if kind != "viterbi" and len(table) == student.T:
            yield kind, f"normalised {name}", np.exp(table) / np.exp(table).sum(1, keepdims=True)
    yield "backpointers", "ids", np.array(student.pointers(), dtype=float)
    yield "backpointers", "without row", np.array(student.pointers()[1:], dtype=float)


def _joined(row, w, k):
    scores = [row[j] + w[j][k] for j in range(len(row))]
    best = max(scores)
    return best if best == -INF else best + math.log(sum(math.exp(x - best) for x in scores))


def test_correct_tables_in_every_notation_raise_no_alarm():
    """More than 100 tables: every notation, exact, float32 and rounded, both ways round."""
    count = 0
    for seed in range(2):
        chain = random_chain(seed, num_tokens=4 + 3 * seed, wall=seed == 1)
        for kind, name, table in right_tables(chain):
            rounded = [table.round(decimals) for decimals in (2, 3, 4)]
            written = [table, table.T, table.astype(np.float32), *rounded]
            for way in written:
                assert check_table(chain, kind, way) is None, (seed, kind, name)
                count += 1
    assert count > 100


def test_table_computed_with_rounded_numbers_raises_no_alarm():
    for decimals in (2, 3, 4):
        chain = ice_cream()
        table = [np.round((chain.start + chain.emissions[0]).numpy(), decimals)]
        for row in chain.emissions[1:].numpy():
            moved = np.logaddexp.reduce(table[-1][:, None] + chain.transitions.numpy(), axis=0)
            table.append(np.round(moved + row, decimals))
        assert check_table(chain, "alpha", table) is None


def test_check_supports_transitions_per_step():
    random = np.random.default_rng(0)
    steps = random.normal(size=(4, 3, 3))
    chain = Potentials(random.normal(size=(5, 3)), steps, random.normal(size=3))
    table = forward_backward(chain).log_alpha
    assert check_table(chain, "alpha", table) is None
    swapped = Potentials(chain.emissions, steps.swapaxes(1, 2), chain.start)
    wrong = check_table(chain, "alpha", forward_backward(swapped).log_alpha)
    assert (wrong.position, wrong.tag, wrong.bug) == (1, 0, "transposed matrix")


def test_tied_backpointers_are_all_correct():
    chain = Potentials(torch.zeros(3, 3), torch.zeros(3, 3))
    assert check_table(chain, "backpointers", [[-1] * 3, [2, 1, 0], [1, 1, 2]]) is None
    wrong = check_table(chain, "backpointers", [[-1] * 3, [2, 1, 0], [1, 1, 3]])
    assert (wrong.position, wrong.tag) == (2, 2)


def test_first_backpointer_row_of_zeros_is_accepted():
    chain = random_chain(0)
    table = np.array(Student(chain).pointers())
    table[0] = 0
    assert check_table(chain, "backpointers", table) is None
    table[2, 1] = (table[2, 1] + 1) % 4
    wrong = check_table(chain, "backpointers", table)
    assert (wrong.position, wrong.tag) == (2, 1)


def test_single_slip_is_found_without_a_bug_name():
    chain = random_chain(0)
    table = forward_backward(chain).log_alpha.clone()
    table[3, 2] += 0.01
    wrong = check_table(chain, "alpha", table)
    assert (wrong.position, wrong.tag, wrong.wrong_cells, wrong.bug) == (3, 2, 1, None)
    assert wrong.found - wrong.expected == pytest.approx(0.01)


@pytest.mark.parametrize(("shift", "bug"), [(60.0, "overflow"), (-60.0, "underflow")])
def test_float32_overflow_and_underflow_are_recognised(shift, bug):
    chain = random_chain(0)
    chain = Potentials(chain.emissions + shift, chain.transitions, chain.start, chain.end)
    with np.errstate(all="ignore"):
        products = np.exp(np.array(Student(chain).forward())).astype(np.float32)
        table = np.log(products.astype(float))
    wrong = check_table(chain, "alpha", table)
    assert (wrong.position, wrong.bug) == (1, bug)


def test_half_a_unit_may_round_up_or_down():
    chain = Potentials(np.log([[0.345, 0.1]]), np.zeros((2, 2)))
    for written in (0.34, 0.35):
        assert check_table(chain, "alpha", [[written, 0.1]]) is None


def test_empty_cell_is_wrong():
    chain = random_chain(0)
    table = forward_backward(chain).log_alpha.clone()
    table[1, 0] = math.nan
    wrong = check_table(chain, "alpha", table)
    assert (wrong.position, wrong.tag) == (1, 0)
    assert math.isnan(wrong.found)


@given(
    values=st.lists(
        st.floats(-1e300, 1e300) | st.floats(-9, 9) | st.sampled_from([-INF, INF, math.nan]),
        min_size=6,
        max_size=6,
    ),
    rounding=st.sampled_from(
        [Rounding(d, None, True) for d in range(7)]
        + [Rounding(None, d, True) for d in range(2, 7)]
        + [Rounding(None, None, single) for single in (True, False)]
    ),
    products=st.booleans(),
)
def test_tolerance_never_exceeds_the_coarsest(values, rounding, products):
    right = np.array(values).reshape(3, 2)
    for steps in (np.arange(3), np.arange(3)[::-1], np.arange(3) + 7):
        allowed = tolerance(rounding, right, steps, products=products)
        assert allowed.max() <= coarsest(rounding, right)


def test_table_of_whole_numbers_is_compared_exactly():
    chain = Potentials([[1, 2], [3, 1], [0, 4]], [[1, 0], [2, 1]], [0, 1], [1, 0])
    table = viterbi(chain).best.clone()
    assert check_table(chain, "viterbi", table) is None
    table[2, 1] += 1
    assert check_table(chain, "viterbi", table).position == 2


def test_padding_rows_may_be_repeated_or_empty():
    chain = random_chain(0)
    table = forward_backward(chain).log_alpha.numpy()
    for row in (table[-1:], np.zeros((1, 4)), np.full((1, 4), math.nan)):
        assert check_table(chain, "alpha", np.concatenate([table, row, row])) is None
    wrong = check_table(chain, "alpha", np.concatenate([table, table[-1:] + 1]))
    assert (wrong.position, wrong.tag, wrong.bug) == (5, 0, "mask ignored")


@pytest.mark.parametrize("kind", ["alpha", "beta", "viterbi"])
@pytest.mark.parametrize("space", ["log", "probability"])
def test_arithmetic_of_a_wrong_cell_ends_with_the_expected_value(kind, space):
    chain = random_chain(0)
    right = np.array(Student(chain).table(kind))
    for t, k in [(0, 0), (0, 3), (1, 1), (2, 2), (3, 0), (4, 1), (4, 3)]:
        table = right.copy()
        table[t, k] += 1.0
        wrong = check_table(chain, kind, table if space == "log" else np.exp(table))
        assert (wrong.position, wrong.tag) == (t, k)
        last = float(wrong.arithmetic.rpartition("= ")[2].replace("−", "-"))
        assert last == pytest.approx(wrong.expected, rel=5e-3, abs=6e-5)
        assert chain.tags[k] in wrong.arithmetic


def test_check_reports_how_the_table_was_read():
    chain = random_chain(0)
    table = np.exp(forward_backward(chain).log_alpha.numpy())
    found = check(chain, "alpha", table.T.round(3))
    assert found.first_wrong is None
    assert found.reading.flipped
    assert found.reading.space == "probability"
    assert found.rounding.text == "3 decimals"


@pytest.mark.parametrize(
    ("kind", "table", "message"),
    [
        ("gamma", [[0.0]], "expected one of the kinds alpha, beta, viterbi, backpointers"),
        ("alpha", [[0.0, 1.0]], "5 words by 4 tags"),
        ("alpha", [0.0, 1.0], "5 words by 4 tags"),
        ("alpha", [[1.0], [1.0, 2.0]], "rows of one length"),
        ("alpha", [["a"]], "numbers"),
        ("alpha", 3.0, "a single number"),
        ("beta", np.zeros((4, 4)), "5 words by 4 tags"),
    ],
)
def test_invalid_table_is_rejected(kind, table, message):
    with pytest.raises(CrfvizError, match=message):
        check_table(random_chain(0), kind, table)


def test_bugs_are_recognised_in_two_words():
    for name, kind, mistake in BUGS:
        if kind == "alpha":
            chain = random_chain(0, num_tokens=2, wall="finite" in mistake)
            assert check_table(chain, kind, Student(chain, **mistake).table(kind)).bug == name


@pytest.mark.parametrize("kind", KINDS)
def test_single_word_is_checked(kind):
    chain = random_chain(0, num_tokens=1)
    right = np.array(Student(chain).table(kind), dtype=float)
    assert check_table(chain, kind, right) is None
    if kind != "backpointers":
        assert check_table(chain, kind, right + 1).position == 0


@pytest.mark.parametrize("renamed", [True, False])
@pytest.mark.parametrize("missing", [0, 1])
def test_backpointers_with_reordered_tags_are_recognised(renamed, missing):
    told = 0
    for seed in range(4):
        chain = random_chain(seed, num_tokens=6, num_tags=5)
        right = viterbi(chain).backpointers.numpy()
        order = np.random.default_rng(seed).permutation(5)
        place = np.argsort(order)
        mine = right[:, order]
        if renamed:
            mine = np.where(mine >= 0, place[mine], -1)
        found = check(chain, "backpointers", mine[missing:])
        told += bool(found.order)
        if found.order:
            assert check_table(chain, "backpointers", found.ordered[missing:]) is None
    assert told >= 3  # an order that changes nothing is no mistake


def test_one_wrong_backpointer_is_not_a_reordering():
    for seed in range(4):
        chain = random_chain(seed, num_tokens=6, num_tags=5)
        table = viterbi(chain).backpointers.numpy().copy()
        table[3, 2] = (table[3, 2] + 1) % 5
        assert not check(chain, "backpointers", table).order
