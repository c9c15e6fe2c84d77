import json

import pytest

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.examples import CHECKS, Example, holds, read_examples, write_examples

LINE = {
    "text": "a b",
    "tokens": ["a", "b"],
    "claim": "Greedy and Viterbi differ at `b`.",
    "kind": "greedy_differs",
    "position": 1,
    "gold": ["X", "Y"],
}


def example(kind, position=None, gold=None):
    return Example("a b", ("a", "b"), "A claim.", kind, position, gold)


# Alone, both words are X; X to X costs 3, so that the best path is Y X (0.5 + 2 over 1 + 2 - 3).
PULLED = Potentials([[1.0, 0.5], [2.0, 0.0]], [[-3, -3], [0, 0]], tags=["X", "Y"])


def test_written_examples_are_read_back(tmp_path):
    examples = [example("near_tie"), example("viterbi_wrong", 0, ("X", "Ü"))]
    write_examples(tmp_path / "examples.jsonl", examples)
    assert read_examples(tmp_path / "examples.jsonl") == examples


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": ""}, "'text' must be a text, got ''"),
        ({"claim": 3}, "'claim' must be a text, got 3"),
        ({"tokens": []}, "'tokens' must be a list of words"),
        ({"tokens": "a b"}, "'tokens' must be a list of words"),
        ({"kind": "greedy"}, "'kind' must be one of greedy_differs, "),
        ({"kind": ["near_tie"]}, "'kind' must be one of"),
        ({"position": 2}, "'position' must be null or 0 to 1, got 2"),
        ({"position": "1"}, "'position' must be null or 0 to 1"),
        ({"gold": ["X"]}, "'gold' must be null or a list of 2 tags"),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path, change, message):
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps(LINE) + "\n\n" + json.dumps({**LINE, **change}) + "\n")
    with pytest.raises(ModelError, match=rf"examples\.jsonl, line 3: field {message}"):
        read_examples(path)


@pytest.mark.parametrize(("line", "message"), [("{", "is no JSON"), ("[]", "must be a JSON obj")])
def test_a_broken_line_is_named(tmp_path, line, message):
    path = tmp_path / "examples.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(ModelError, match=rf"line 1: {message}"):
        read_examples(path)


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (example("greedy_differs", 0), True),
        (example("greedy_differs", 1), False),
        (example("left_to_right_differs", 0), True),
        (example("left_to_right_differs", 1), False),
        (example("viterbi_finds", gold=("Y", "X")), True),
        (example("viterbi_finds", gold=("X", "X")), False),
        (example("viterbi_right", gold=("Y", "X")), True),
        (example("viterbi_right", gold=("X", "X")), False),
        (example("viterbi_wrong", 0, ("X", "X")), True),
        (example("viterbi_wrong", 0, ("Y", "X")), False),
        (example("max_marginal_differs", 0), False),
        (example("near_tie"), False),
    ],
    ids=lambda value: str(value) if isinstance(value, bool) else value.kind,
)
def test_claims_are_decided(claim, true):
    assert holds(claim, PULLED) == true


def test_a_tie_is_a_near_tie():
    chain = Potentials([[0.0, 0.0], [9.0, 0.0]], [[0, 0], [0, 0]], tags=["X", "Y"])
    assert holds(example("near_tie"), chain)


def test_likeliest_tag_of_a_word_may_be_off_the_best_path():
    # One path through X has the most mass (e^1), but three through Y together have more (3 e^0.5).
    matrix = [[1.0, -9, -9], [0.5, 0.5, 0.5], [-9, -9, -9]]
    chain = Potentials([[0.0] * 3] * 2, matrix, tags=["X", "Y", "Z"])
    assert holds(example("max_marginal_differs", 0), chain)
    assert not holds(example("near_tie"), chain)


def test_greedy_that_continues_nothing_breaks_bio():
    tags = ["O", "B-PER", "I-PER"]
    wall = float("-inf")
    rules = [[0, 0, wall], [0, 0, 0], [0, 0, 0]]
    chain = Potentials([[1.0, 0, 0], [0, 0, 1.0]], rules, [0, 0, wall], tags=tags)
    assert holds(example("breaks_bio", 1), chain)
    assert not holds(example("breaks_bio", 0), chain)


def test_an_unknown_kind_cannot_be_decided():
    with pytest.raises(ModelError, match="'magic' is no kind of claim"):
        holds(example("magic"), PULLED)


def test_every_kind_has_a_check():
    assert tuple(CHECKS) == (
        "greedy_differs",
        "left_to_right_differs",
        "max_marginal_differs",
        "viterbi_finds",
        "viterbi_right",
        "viterbi_wrong",
        "near_tie",
        "tie",
        "unsure",
        "breaks_bio",
        "given",
    )
    assert {kind for kind in CHECKS if kind.endswith("differs")} == {
        "greedy_differs",
        "left_to_right_differs",
        "max_marginal_differs",
    }
