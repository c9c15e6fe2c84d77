"""Programs on a recording board: right ones in any order, wrong ones at their first wrong write."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz import CrfvizError, FormatError, Potentials, Trace, grade, trace
from crfviz.chain.homework.board import Board
from tests.support.icecream import ice_cream
from tests.support.student import BUGS, Student, log_sum
from tests.unit.chain.homework.test_check import first_difference, random_chain

ARRAYS = {"alpha": "alpha", "beta": "beta", "viterbi": "best", "backpointers": "backpointers"}
CHAIN = random_chain(1)


def cell_by_cell(table, name, order=None):
    """A program that writes a finished table, a cell a step."""

    def program(board):
        cells = [(t, k) for t in range(len(table)) for k in range(len(table[0]))]
        for t, k in order(cells) if order else cells:
            getattr(board, name)[t, k] = table[t][k]

    return program


def alpha_in_loops(board):
    e, w = board.emissions, board.transitions
    for k in range(board.num_tags):
        board.alpha[0, k] = board.start[k] + e[0, k]
    for t in range(1, board.num_tokens):
        for k in reversed(range(board.num_tags)):
            arriving = [board.alpha[t - 1, j] + w[j, k] for j in range(board.num_tags)]
            board.alpha[t][k] = log_sum(arriving) + e[t, k]


def alpha_vectorised(board):
    board.alpha = np.full(board.emissions.shape, -np.inf)
    board.alpha[0] = board.start + board.emissions[0]
    for t in range(1, board.num_tokens):
        moves = board.alpha[t - 1][:, None] + board.transitions
        np.logaddexp.reduce(moves, 0, out=board.alpha[t])
        board.alpha[t] += board.emissions[t]


def alpha_added_up_in_place(board):
    board.alpha.fill(-np.inf)
    board.alpha[0, :] = board.start
    for t in range(board.num_tokens):
        row = board.alpha[t]
        for j in range(board.num_tags) if t else ():
            np.logaddexp(row, board.alpha[t - 1, j] + board.transitions[j], row)
        row[:] = row + board.emissions[t]


def alpha_by_copies(board):
    table = [board.start + board.emissions[0]]
    for emission in board.emissions[1:]:
        table.append(np.logaddexp.reduce(table[-1][:, None] + board.transitions) + emission)
    np.copyto(board.alpha, np.array(table))


def alpha_in_probabilities(board):
    board.alpha[...] = 0
    board.alpha[0] = np.exp(board.start + board.emissions[0])
    for t in range(1, board.num_tokens):
        for j in range(board.num_tags):
            board.alpha[t] += board.alpha[t - 1, j] * np.exp(board.transitions[j])
        board.alpha[t] *= np.exp(board.emissions[t])


def beta_in_loops(board):
    board.beta[-1] = board.end
    for t in range(board.num_tokens - 2, -1, -1):
        after = board.emissions[t + 1] + board.beta[t + 1]
        for j in range(board.num_tags):
            board.beta[t, j] = log_sum(list(board.transitions[j] + after))


def viterbi_with_if(board):
    best, pointers, w = board.best, board.backpointers, board.transitions
    best[0] = board.start + board.emissions[0]
    for t in range(1, board.num_tokens):
        for k in range(board.num_tags):
            for j in range(board.num_tags):
                score = best[t - 1, j] + w[j, k] + board.emissions[t, k]
                if score > best[t, k]:
                    best[t, k], pointers[t, k] = score, j


RIGHT = [
    ("alpha", alpha_in_loops),
    ("alpha", alpha_vectorised),
    ("alpha", alpha_added_up_in_place),
    ("alpha", alpha_by_copies),
    ("alpha", alpha_in_probabilities),
    ("beta", beta_in_loops),
    ("viterbi", viterbi_with_if),
    ("backpointers", viterbi_with_if),
]


@pytest.mark.parametrize(("table", "program"), RIGHT)
def test_correct_programs_pass_in_any_order_of_writes(table, program):
    # The last has as many words as tags: its transpose would have the same shape.
    for chain in (CHAIN, random_chain(2, wall=True), ice_cream(), random_chain(3, num_tokens=4)):
        found = grade(program, chain, table)
        assert found.correct, found.message
        assert (found.position, found.tag, found.bug) == (None, None, None)


@pytest.mark.parametrize(("name", "kind", "mistake"), BUGS)
@pytest.mark.parametrize("order", [None, lambda cells: cells[::-1]], ids=["down", "up"])
def test_grade_finds_the_first_wrong_write_and_the_bug(name, kind, mistake, order):
    chain = random_chain(0, wall="finite" in mistake)
    right = Student(chain).table(kind)
    table = Student(chain, **mistake).table(kind)
    if len(table) > len(right):
        pytest.skip("a board has no padding")
    found = grade(cell_by_cell(table, ARRAYS[kind], order), chain, kind)
    cells = [(t, k) for t in range(len(table)) for k in range(len(table[0]))]
    wrong = [
        (number, t, k)
        for number, (t, k) in enumerate(order(cells) if order else cells)
        if table[t][k] != pytest.approx(right[t][k], abs=1e-6)
    ]
    if kind == "backpointers":  # ties and the first row are the check's own subject
        assert (found.correct, found.bug) == (False, name)
        return
    step, t, k = wrong[0]
    assert (found.correct, found.step, found.position, found.tag) == (False, step, t, k)
    assert found.tag_name == chain.tags[k]
    assert found.got == pytest.approx(table[t][k])
    assert found.expected == pytest.approx(right[t][k], abs=1e-9)
    assert found.bug == name
    assert f"Likely bug: {name}." in found.message


def test_arithmetic_has_a_line_for_expected_and_actual():
    chain = Potentials([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.25, 0.0]], tags=["N", "V"])
    table = Student(chain, transposed=True).table("alpha")
    found = grade(cell_by_cell(table, "alpha"), chain, "alpha")
    correct, yours = found.arithmetic.splitlines()
    numbers = math.log(math.e + math.exp(0.25)), math.log(math.e + 1 / math.e)
    # log(exp(1 + 0) + exp(0 + 0.25)) and, transposed, log(exp(1 + 0) + exp(0 − 1))
    assert correct == (
        "correct: α(2, N) = e(2, N) + log Σ exp over j of [α(1, j) + w(j, N)]"
        f" = 0.0000 + log(exp 1.0000 [N] + exp 0.2500 [V]) = {numbers[0]:.4f}"
    )
    assert yours == (
        "yours: α(2, N) = e(2, N) + log Σ exp over j of [α(1, j) + w(j, N)]"
        f" = 0.0000 + log(exp 1.0000 [N] + exp −1.0000 [V]) = {numbers[1]:.4f}"
    )


def test_arithmetic_shows_a_maximum_used_for_a_sum():
    table = Student(CHAIN, join="max").table("alpha")
    found = grade(cell_by_cell(table, "alpha"), CHAIN, "alpha")
    correct, yours = found.arithmetic.splitlines()
    assert "log Σ exp over j" in correct
    assert "max over j" in yours
    assert yours.endswith(f"{found.got:.4f}".replace("-", "−"))


def test_unknown_mistake_is_reported_with_its_difference():
    table = np.array(Student(CHAIN).table("alpha"))
    table[2, 1] += 0.5
    found = grade(cell_by_cell(table, "alpha"), CHAIN, "alpha")
    assert (found.position, found.tag, found.bug) == (2, 1, None)
    assert found.arithmetic.endswith("0.5000 more")


def test_overwritten_cell_counts_at_its_last_write():
    table = Student(CHAIN).table("alpha")

    def program(board):
        cell_by_cell(table, "alpha")(board)
        board.alpha[0, 1] += 1.0

    found = grade(program, CHAIN, "alpha")
    assert (found.step, found.position, found.tag) == (5 * 4, 0, 1)


def test_cell_never_written_is_reported():
    table = Student(CHAIN).table("beta")
    found = grade(cell_by_cell(table[1:], "beta"), CHAIN, "beta")  # rows move up, row 4 stays
    assert not found.correct
    found = grade(cell_by_cell(Student(CHAIN).table("alpha")[:4], "alpha"), CHAIN, "alpha")
    assert (found.position, found.tag, found.step, found.got) == (4, 0, None, -math.inf)
    assert "never written" in found.message


def test_columns_in_another_order_are_recognised():
    table = np.array(Student(CHAIN).table("alpha"))[:, [1, 0, 2, 3]]
    found = grade(cell_by_cell(table, "alpha"), CHAIN, "alpha")
    assert "tags in another order" in found.message


def test_wrong_backpointers_are_reported_as_tag_ids():
    def one_wrong(board):
        viterbi_with_if(board)
        board.backpointers[2, 1] = (board.backpointers[2, 1] + 1) % 4

    found = grade(one_wrong, CHAIN, "backpointers")
    assert (found.position, found.tag) == (2, 1)
    assert f"sets it to {found.got:.0f}; correct is {found.expected:.0f}." in found.message
    assert found.arithmetic.endswith(f"yours: {found.got:.0f}")


def test_single_word_needs_no_backpointer():
    chain = random_chain(1, num_tokens=1)
    assert grade(lambda _: None, chain, "backpointers").correct
    assert not grade(lambda _: None, chain, "viterbi").correct


def test_transposed_table_of_a_square_chain_is_wrong():
    chain = random_chain(3, num_tokens=4)
    table = np.array(Student(chain).table("alpha")).T
    assert not grade(cell_by_cell(table, "alpha"), chain, "alpha").correct


def raises(board):
    board.alpha[0] = 0
    raise KeyError("walk")


def endless(board):
    while True:
        board.alpha[0, 0] = 0.0


# On one line: a single instruction, for which Python 3.11 reports no lines.
exec("def endless_in_one_line(board):\n    while True: pass")


def endless_that_catches(board):
    while True:
        try:
            board.alpha[0, 0] = 0.0
        except Exception:  # noqa: BLE001 - as students write it
            continue


def too_far(board):
    for t in range(board.num_tokens + 1):
        board.alpha[t] = 0.0


def reads_too_far(board):
    board.alpha[0, 0] = board.alpha[0, 4]


def not_a_number(board):
    alpha_in_loops(board)
    board.alpha[3, 2] = np.log(-1.0)


def other_shape(board):
    board.alpha = np.zeros((2, 2))


def two_arguments(board, potentials):
    board.alpha = potentials


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (raises, r"raised KeyError in line \d+ \(raise KeyError.*\): 'walk'\."),
        (endless, "stopped after 5,000 lines: a loop may have no end"),
        (globals()["endless_in_one_line"], "stopped after 5,000 lines"),
        (endless_that_catches, "stopped after 5,000 lines"),
        (too_far, r"it writes to alpha\[5\], out of bounds of 5 by 4 cells"),
        (reads_too_far, r"it reads alpha\[0, 4\], out of bounds of 5 by 4 cells"),
        (not_a_number, r"alpha\[3, 2\].* write \d+ sets it to NaN.*NaN comes from"),
        (other_shape, r"raised ValueError in line \d+"),
        (two_arguments, "raised TypeError: .*missing 1 required positional argument"),
        (lambda _: None, "wrote nothing to board.alpha"),
        (lambda _: exit(), "raised SystemExit"),
    ],
)
def test_failing_programs_get_a_message(program, message):
    found = grade(program, CHAIN, "alpha", max_lines=5000)
    assert not found.correct
    assert re.search(message, found.message), found.message


@pytest.mark.parametrize(
    ("given_args", "message"),
    [
        ((alpha_in_loops, CHAIN, "gamma"), "expected one of the tables alpha, beta, viterbi"),
        (("alpha", CHAIN, "alpha"), "expected a function of one argument"),
        ((alpha_in_loops, [["a"]], "alpha"), "emissions"),
    ],
)
def test_invalid_grade_arguments_are_rejected(given_args, message):
    with pytest.raises(CrfvizError, match=message):
        grade(*given_args)


@given(st.data())
def test_board_tables_behave_like_numpy_arrays(data):
    board, plain = Board(CHAIN), np.full((5, 4), -np.inf)
    keys = [
        st.tuples(st.integers(-5, 4), st.integers(-4, 3)),
        st.integers(-5, 4),
        st.just((slice(None), 2)),
        st.just((slice(None, None, -2), slice(1, 3))),
        st.lists(st.integers(0, 4), min_size=1, max_size=3),
        st.just(np.arange(20).reshape(5, 4) % 3 == 0),
    ]
    for number in range(4):
        key = data.draw(st.one_of(keys))
        view = data.draw(st.sampled_from(["", "T", "reversed"]))
        for table in (board.alpha, plain):
            target = table[::-1] if view == "reversed" else table
            if view == "T" and not isinstance(key, tuple | np.ndarray):
                target = (
                    table.T if max(np.atleast_1d(key)) < 4 > -min(np.atleast_1d(key)) else table
                )
            target[key] = number
            target += 1
    np.testing.assert_array_equal(np.asarray(board.alpha), plain)
    replayed = np.full((5, 4), -np.inf)
    for step in board.journal("alpha").steps:
        for t, k, value in step:
            replayed[t, k] = value
    np.testing.assert_array_equal(replayed, plain)


def test_copies_and_results_are_not_recorded():
    board = Board(CHAIN)
    board.alpha[0].copy()[0] = 1
    (board.alpha + 1)[0] = 1
    assert board.journal("alpha").steps == []
    assert type(board.alpha + 1) is np.ndarray


def test_trace_is_restored_from_json(tmp_path):
    chain = random_chain(2, wall=True)
    table = Student(chain, transposed=True).table("alpha")
    found = trace(cell_by_cell(table, "alpha"), chain, "alpha")
    found.save(tmp_path / "trace.json")
    again = Trace.from_json((tmp_path / "trace.json").read_text("utf-8"))
    assert again.grade == found.grade
    assert again.steps == found.steps
    assert again.potentials.tags == chain.tags
    assert (again.potentials.start == chain.start).all()


def test_trace_of_one_word_without_steps_is_restored_from_json():
    chain = Potentials([[1.0, 2.0]], np.zeros((0, 2, 2)))
    found = trace(lambda board: board.alpha.__setitem__(0, [1.0, 3.0]), chain, "alpha")
    again = Trace.from_json(found.to_json())
    assert again.grade == found.grade
    assert again.potentials.transitions.shape == (0, 2, 2)


def changed(**fields):
    content = json.loads(trace(alpha_in_loops, CHAIN, "alpha").to_json())
    return json.dumps(content | fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a trace as JSON"),
        ("[" * 100_000, "expected a trace as JSON"),
        ("[]", "expected a file with the format 'crfviz trace'"),
        (changed(version=2), "field 'version' must be 1, got 2"),
        (changed(table="gamma"), "field 'table' must be one of"),
        (changed(tags=[1]), "field 'tags' must be a list of texts"),
        (changed(tags=["N"]), "the scores of the trace: expected 4 tags"),
        (changed(emissions="all"), "field 'emissions' must hold numbers, got 'all'"),
        (changed(emissions=[["nan"] * 4]), "the scores of the trace"),
        (changed(start=None), "field 'start' must hold numbers"),
        (changed(steps=3), "field 'steps' must be a list of lists"),
        (changed(steps=[[[9, 0, 1.0]]]), "step 1: expected position, tag and value within 5 × 4"),
        (changed(steps=[[[0, 0, []]]]), "field 'steps' must hold numbers"),
        (changed(steps=[[[0, 0]]]), "step 1: expected position, tag and value"),
    ],
)
def test_json_that_is_not_a_trace_is_rejected(text, message):
    with pytest.raises(FormatError, match=message):
        Trace.from_json(text)


def test_first_difference_equals_the_first_wrong_write_of_beta():
    table = Student(CHAIN, no_end=True).table("beta")
    found = grade(lambda board: board.beta.__setitem__(..., table), CHAIN, "beta")
    right = Student(CHAIN).table("beta")
    assert (found.position, found.tag) == first_difference("beta", table, right)
    assert found.bug == "end score forgotten"
