"""What goes through the door, and what comes out changed."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.potentials import LARGEST, Potentials
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    ScoreError,
    ShapeError,
)
from tests.support import oracle
from tests.support.strategies import chains

INF = math.inf
FIELDS = ("emissions", "transitions", "start", "end")


def small(**changes):
    """Three words, two tags, everything zero but what is named."""
    scores = {
        "emissions": torch.zeros(3, 2),
        "transitions": torch.zeros(2, 2),
        "tags": ("DET", "NOUN"),
        "tokens": ("a", "dog", "dog"),
    }
    return Potentials(**(scores | changes))


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize(
    "altered",
    [
        lambda chain: chain,
        lambda chain: chain.with_transition(0, 1, 2.0),
        copy.deepcopy,
        lambda chain: pickle.loads(pickle.dumps(chain)),  # noqa: S301 - our own
    ],
    ids=["new", "changed", "copied", "pickled"],
)
def test_numpy_converts_scores_without_a_warning(name, altered):
    scores = getattr(altered(small()), name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array(scores, float).tolist() == scores.tolist()
        assert np.asarray(scores, dtype=np.float32).dtype == np.float32
        assert np.asarray(scores).shape == tuple(scores.shape)
    assert type(scores + 1) is torch.Tensor


@pytest.mark.parametrize(
    "make",
    [lambda x: x, np.array, torch.tensor, lambda x: torch.tensor(x).int(), lambda x: tuple(x)],
    ids=["lists", "arrays", "tensors", "integers", "tuples"],
)
def test_array_like_scores_become_float64(make):
    potentials = Potentials(make([[1.0, 2.0]]), make([[0.0, 1.0], [2.0, 3.0]]), make([4.0, 5.0]))
    assert all(getattr(potentials, name).dtype == torch.float64 for name in FIELDS)
    assert potentials.emissions.tolist() == [[1.0, 2.0]]
    assert potentials.transitions.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert potentials.start.tolist() == [4.0, 5.0]
    assert potentials.end.tolist() == [0.0, 0.0]
    assert (potentials.num_tokens, potentials.num_tags) == (1, 2)


@pytest.mark.parametrize(
    "emissions",
    [np.zeros((3, 2)), torch.zeros(3, 2, dtype=torch.float64)],
    ids=["array", "tensor"],
)
def test_later_changes_of_the_input_do_not_change_potentials(emissions):
    potentials = small(emissions=emissions)
    emissions[0, 0] = 7.0
    assert potentials.emissions[0, 0] == 0.0


def test_gradients_flow_back_to_the_input_tensor():
    emissions = torch.zeros(3, 2, requires_grad=True)
    small(emissions=emissions).with_emission(0, 0, 5.0).emissions.sum().backward()
    assert emissions.grad.tolist() == [[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"emissions": torch.zeros(3)}, r"emissions must be \(T, K\), got \(3,\)"),
        ({"emissions": torch.zeros(3, 0)}, r"emissions must be \(T, K\), got \(3, 0\)"),
        ({"emissions": 1.0}, r"emissions must be \(T, K\), got \(\)"),
        ({"emissions": [[1.0], [1.0, 2.0]]}, "emissions must be numbers in rows of one length"),
        ({"emissions": np.array([[1 + 2j, 0]])}, "emissions must be numbers .* got complex128"),
        ({"emissions": torch.tensor([[1 + 2j, 0]])}, r"numbers .* got torch\.complex64"),
        ({"emissions": [["x", "y"]]}, "emissions must be numbers"),
        ({"transitions": torch.zeros(2, 3)}, r"transitions must be \(2, 2\) or \(2, 2, 2\)"),
        ({"transitions": torch.zeros(3, 2, 2)}, r"match emissions \(3, 2\), got \(3, 2, 2\)"),
        ({"start": torch.zeros(3)}, r"start must be \(2,\)"),
        ({"end": torch.zeros(1, 2)}, r"end must be \(2,\)"),
        ({"tags": ("DET",)}, "expected 2 tags, got 1"),
        ({"tokens": ("a", "b")}, "expected 3 tokens, got 2"),
    ],
)
def test_wrong_shape_is_named_in_the_error(changes, message):
    with pytest.raises(ShapeError, match=message):
        small(**changes)


@pytest.mark.parametrize("emissions", [[], np.zeros((0, 2)), torch.zeros(0, 2)])
def test_empty_sentence_is_rejected(emissions):
    with pytest.raises(EmptySentenceError, match="at least one word"):
        small(emissions=emissions, tokens=None)


def test_string_of_tokens_is_rejected_but_one_letter_tags_work():
    with pytest.raises(CrfvizError, match="tokens must be a list of words, got the text 'ab'"):
        Potentials(torch.zeros(2, 2), torch.zeros(2, 2), tokens="ab")
    assert Potentials(torch.zeros(2, 2), torch.zeros(2, 2), tags="AB").tags == ("A", "B")


def test_duplicate_tags_are_rejected():
    with pytest.raises(CrfvizError, match="different names"):
        small(tags=("DET", "DET"))


def test_signalling_nan_is_rejected_without_a_warning():
    signals = np.array([[0x7F800001]], dtype=np.uint32).view(np.float32)
    with pytest.raises(CrfvizError, match="nan"):
        Potentials(signals, [[0.0]])


@pytest.mark.parametrize("bad", [INF, math.nan, 2 * LARGEST, -2 * LARGEST])
@pytest.mark.parametrize("name", FIELDS)
def test_scores_must_be_finite_or_minus_infinity(name, bad):
    scores = torch.zeros(getattr(small(), name).shape, dtype=torch.float64)
    scores.view(-1)[-1] = bad
    cell = r", ".join(str(size - 1) for size in scores.shape)
    with pytest.raises(
        ScoreError, match=rf"{name}\[{cell}\] must be -inf .* got {bad}".replace("+", r"\+")
    ):
        small(**{name: scores})
    small(**{name: torch.full_like(scores, -INF)})


def test_tag_id_accepts_names_and_ids():
    potentials = small()
    assert [potentials.tag_id(tag) for tag in ("DET", "NOUN", 0, np.int64(1))] == [0, 1, 0, 1]
    assert potentials.tag_names == ("DET", "NOUN")
    assert small(tags=None).tag_names == ("0", "1")
    assert small(tags=None).tag_id("1") == 1


def test_with_methods_return_copies_with_one_changed_cell():
    before = small()
    assert before.with_transition("DET", "NOUN", 5).transitions.tolist() == [[0, 5], [0, 0]]
    assert before.with_emission(2, "NOUN", -INF).emissions.tolist() == [[0, 0], [0, 0], [0, -INF]]
    assert before.with_start(1, 5).start.tolist() == [0, 5]
    assert before.with_end("DET", 5).end.tolist() == [5, 0]
    assert all(not getattr(before, name).any() for name in FIELDS)


def test_tags_and_tokens_survive_changes():
    after = small().with_start(0, 1).with_transition(0, 0, 1).pin({0: 0}).scale_transitions(0.5)
    assert (after.tags, after.tokens) == (("DET", "NOUN"), ("a", "dog", "dog"))


def test_with_transition_changes_every_step():
    after = small(transitions=torch.zeros(2, 2, 2)).with_transition(0, 1, 5)
    assert after.transitions.tolist() == [[[0, 5], [0, 0]]] * 2


@pytest.mark.parametrize("bad", [math.nan, INF])
def test_invalid_score_is_rejected_by_with_methods(bad):
    with pytest.raises(ScoreError):
        small().with_transition(0, 0, bad)
    with pytest.raises(ScoreError):
        small().with_emission(0, 0, bad)


def test_pin_forbids_the_other_tags_and_keeps_the_score():
    pinned = small(emissions=[[1, 2], [3, 4], [5, 6]]).pin({0: "NOUN", 2: 0})
    assert pinned.emissions.tolist() == [[-INF, 2], [3, 4], [5, -INF]]


@given(chains(max_tokens=4, max_tags=3), st.data())
def test_pinned_chain_allows_exactly_the_agreeing_paths(potentials, data):
    t = data.draw(st.integers(0, potentials.num_tokens - 1))
    k = data.draw(st.integers(0, potentials.num_tags - 1))
    expected = {path: score for path, score in oracle.allowed(potentials) if path[t] == k}
    assert dict(oracle.allowed(potentials.pin({t: k}))) == expected


def test_scale_transitions_leaves_emissions_unchanged():
    scores = {"transitions": [[1, 2], [3, 4]], "start": [5, 6], "end": [7, -INF]}
    after = small(emissions=torch.ones(3, 2), **scores).scale_transitions(0.5)
    assert after.emissions.tolist() == [[1, 1]] * 3
    assert after.transitions.tolist() == [[0.5, 1], [1.5, 2]]
    assert after.start.tolist() == [2.5, 3]
    assert after.end.tolist() == [3.5, -INF]
    forbidden = small(transitions=[[1, -INF], [3, 4]]).scale_transitions(0)
    assert forbidden.transitions.tolist() == [[0, -INF], [0, 0]]


@pytest.mark.parametrize("strength", [-1.0, math.nan, INF])
def test_invalid_strength_is_rejected(strength):
    with pytest.raises(ScoreError, match="strength"):
        small().scale_transitions(strength)


@given(chains(), st.data())
def test_score_equals_the_sum_of_its_terms(potentials, data):
    tag = st.integers(0, potentials.num_tags - 1)
    path = data.draw(st.tuples(*[tag] * potentials.num_tokens))
    assert potentials.score(path) == pytest.approx(oracle.paths(potentials)[path], abs=1e-9)


def test_score_accepts_tag_names_and_ids():
    potentials = small(emissions=[[1, 2], [3, 4], [5, 6]]).with_transition("DET", "NOUN", 10)
    assert potentials.score(["DET", "NOUN", "NOUN"]) == 21.0
    assert potentials.score([0, 1, 1]) == 21.0


@given(chains(min_tokens=2))
def test_first_words_return_a_shorter_chain(potentials):
    shorter = potentials.first_words(potentials.num_tokens - 1)
    assert shorter.num_tokens == potentials.num_tokens - 1
    path = [0] * shorter.num_tokens
    step = shorter.transitions if shorter.transitions.dim() == 2 else None
    score = shorter.start[0] + shorter.end[0] + potentials.emissions[:-1, 0].sum()
    for t in range(shorter.num_tokens - 1):
        score = score + (step if step is not None else potentials.transitions[t])[0, 0]
    assert shorter.score(path) == pytest.approx(score.item(), abs=1e-9)


@given(chains())
def test_steps_have_one_matrix_each(potentials):
    given = potentials.transitions
    assert potentials.steps.shape == (potentials.num_tokens - 1, *given.shape[-2:])
    assert potentials.homogeneous == (given.dim() == 2)
    for t, step in enumerate(potentials.steps):
        expected = given if given.dim() == 2 else given[t]
        assert torch.equal(step, expected)
        assert torch.equal(potentials.step(t), expected)


def test_single_word_step_is_the_shared_matrix_or_nan():
    assert Potentials([[0.0]], [[2.0]]).step(0).tolist() == [[2.0]]
    assert Potentials([[0.0]], torch.zeros(0, 1, 1)).step(0).isnan().all()


@pytest.mark.parametrize("position", [2, np.int64(2), torch.tensor(2)])
def test_whole_numbers_are_accepted_as_positions(position):
    assert small().position(position) == 2


@pytest.mark.parametrize("names", [5, 1.5, object()])
def test_names_must_be_lists(names):
    for which in ("tags", "tokens"):
        with pytest.raises(ShapeError, match=f"{which} must be a list, got"):
            Potentials([[0.0]], [[0.0]], **{which: names})
