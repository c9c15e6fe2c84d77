import json

import pytest

from crfviz.chain.potentials import Potentials
from crfviz.exceptions import ModelError
from crfviz.taggers.examples import Example, holds, read_examples, write_examples
from crfviz.taggers.registry import list_taggers, load_tagger

LINE = {
    "text": "a b",
    "tokens": ["a", "b"],
    "claim": "Greedy and Viterbi differ at `b`.",
    "kind": "greedy_differs",
    "position": 1,
    "gold": ["X", "Y"],
}


def claim_of(kind, position=None, gold=None):
    return Example("a b", ("a", "b"), "A claim.", kind, position, gold)


# Alone, both words are X; X to X costs 3, so that the best path is Y X (0.5 + 2 over 1 + 2 - 3).
PULLED = Potentials([[1.0, 0.5], [2.0, 0.0]], [[-3, -3], [0, 0]], tags=["X", "Y"])


def test_written_examples_are_read_back(tmp_path):
    examples = [claim_of("near_tie"), claim_of("viterbi_wrong", 0, ("X", "Ü"))]
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
def test_invalid_field_is_named_with_its_line(tmp_path, change, message):
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps(LINE) + "\n\n" + json.dumps({**LINE, **change}) + "\n")
    with pytest.raises(ModelError, match=rf"examples\.jsonl, line 3: field {message}"):
        read_examples(path)


@pytest.mark.parametrize(("line", "message"), [("{", "is no JSON"), ("[]", "must be a JSON obj")])
def test_malformed_line_is_named_in_the_error(tmp_path, line, message):
    path = tmp_path / "examples.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(ModelError, match=rf"line 1: {message}"):
        read_examples(path)


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (claim_of("greedy_differs", 0), True),
        (claim_of("greedy_differs", 1), False),
        (claim_of("left_to_right_differs", 0), True),
        (claim_of("left_to_right_differs", 1), False),
        (claim_of("viterbi_finds", gold=("Y", "X")), True),
        (claim_of("viterbi_finds", gold=("X", "X")), False),
        (claim_of("viterbi_right", gold=("Y", "X")), True),
        (claim_of("viterbi_right", gold=("X", "X")), False),
        (claim_of("viterbi_wrong", 0, ("X", "X")), True),
        (claim_of("viterbi_wrong", 0, ("Y", "X")), False),
        (claim_of("max_marginal_differs", 0), False),
        (claim_of("near_tie"), False),
    ],
    ids=lambda value: str(value) if isinstance(value, bool) else value.kind,
)
def test_each_kind_of_claim_is_evaluated(claim, true):
    assert holds(claim, PULLED) == true


def test_tied_paths_count_as_a_near_tie():
    chain = Potentials([[0.0, 0.0], [9.0, 0.0]], [[0, 0], [0, 0]], tags=["X", "Y"])
    assert holds(claim_of("near_tie"), chain)


def test_max_marginal_claim_holds_where_the_tag_is_off_the_best_path():
    # One path through X has the most mass (e^1), but three through Y together have more (3 e^0.5).
    matrix = [[1.0, -9, -9], [0.5, 0.5, 0.5], [-9, -9, -9]]
    chain = Potentials([[0.0] * 3] * 2, matrix, tags=["X", "Y", "Z"])
    assert holds(claim_of("max_marginal_differs", 0), chain)
    assert not holds(claim_of("near_tie"), chain)


def test_greedy_claim_holds_where_it_breaks_bio():
    tags = ["O", "B-PER", "I-PER"]
    wall = float("-inf")
    rules = [[0, 0, wall], [0, 0, 0], [0, 0, 0]]
    chain = Potentials([[1.0, 0, 0], [0, 0, 1.0]], rules, [0, 0, wall], tags=tags)
    assert holds(claim_of("breaks_bio", 1), chain)
    assert not holds(claim_of("breaks_bio", 0), chain)


def test_unknown_kind_of_claim_is_rejected():
    with pytest.raises(ModelError, match="'magic' is no kind of claim"):
        holds(claim_of("magic"), PULLED)


@pytest.mark.parametrize("name", list_taggers())
def test_every_shipped_example_is_true_of_the_shipped_weights(name):
    tagger = load_tagger(name)
    examples = tagger.examples()
    for example in examples:
        assert holds(example, tagger.potentials(example.tokens)), example.claim
        assert tuple(tagger.split(example.text)) == example.tokens
        assert set(example.gold or ()) <= set(tagger.tags)
        assert tagger.observations or 3 <= len(example.tokens) <= 14
    if not tagger.observations:  # of a model: about a dozen, of several kinds
        assert 10 <= len(examples) <= 16
        assert len({example.kind for example in examples}) >= 4
        assert len({example.text for example in examples}) == len(examples)
        assert any(example.kind == "viterbi_wrong" for example in examples)


def test_first_example_shows_greedy_wrong_and_viterbi_right():
    first = load_tagger("upos-en-contextfree").examples()[0]
    assert (first.text, first.kind) == ("These look fine to me .", "viterbi_right")
