"""EM for hidden Markov models, against hmmlearn and against the enumeration of all paths."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM

from crfviz import (
    CrfvizError,
    EmptySentenceError,
    NoPathError,
    ShapeError,
    UnknownObservationError,
    baum_welch,
)
from crfviz.chain.baum_welch import MarkovCounts
from tests.support.icecream import DIARY, ICE_CREAMS, START, STOP, WEATHER

DAYS = [int(day) - 1 for day in DIARY]
STAY = [[0.8, 0.2], [0.3, 0.7]]


def random_model(seed, K, V, *, end=False):
    generator = np.random.default_rng(seed)
    start = generator.dirichlet(np.ones(K))
    leaving = generator.dirichlet(np.ones(K + end), size=K)
    emissions = generator.dirichlet(np.ones(V), size=K)
    return start, leaving[:, :K], emissions, leaving[:, K] if end else None


def enumerated(start, transitions, emissions, end, sequences):
    """One step of EM in plain Python: log-likelihood and counts by listing every path."""
    K, V = len(emissions), len(emissions[0])
    counts = {
        "start": [0.0] * K,
        "transitions": [[0.0] * K for _ in range(K)],
        "end": [0.0] * K,
        "emissions": [[0.0] * V for _ in range(K)],
    }
    log_likelihood = 0.0
    for sequence in sequences:
        weights = {}
        for path in product(range(K), repeat=len(sequence)):
            weight = start[path[0]] * (1 if end is None else end[path[-1]])
            for before, after in pairwise(path):
                weight *= transitions[before][after]
            for state, symbol in zip(path, sequence, strict=True):
                weight *= emissions[state][symbol]
            weights[path] = weight
        total = sum(weights.values())
        log_likelihood += math.log(total)
        for path, weight in weights.items():
            share = weight / total
            counts["start"][path[0]] += share
            counts["end"][path[-1]] += share
            for before, after in pairwise(path):
                counts["transitions"][before][after] += share
            for state, symbol in zip(path, sequence, strict=True):
                counts["emissions"][state][symbol] += share
    return log_likelihood, counts


def by_hmmlearn(start, transitions, emissions, sequences, iterations):
    """Log-likelihoods, and the parameters after the last step."""
    model = CategoricalHMM(len(start), n_iter=iterations, tol=-np.inf, init_params="")
    model.n_features = len(emissions[0])
    model.startprob_, model.transmat_ = np.array(start), np.array(transitions)
    model.emissionprob_ = np.array(emissions)
    symbols = np.concatenate([np.array(sequence) for sequence in sequences])[:, None]
    model.fit(symbols, [len(sequence) for sequence in sequences])
    return list(model.monitor_.history), model


@pytest.mark.parametrize("seed", range(5))
def test_twelve_iterations_equal_hmmlearn(seed):
    K, V = 2 + seed % 3, 3 + seed % 2
    start, transitions, emissions, _ = random_model(seed, K, V)
    generator = np.random.default_rng(seed + 100)
    sequences = [generator.integers(0, V, length).tolist() for length in (40, 1, 7)]
    steps = baum_welch(start, transitions, emissions, sequences, 12)
    history, model = by_hmmlearn(start, transitions, emissions, sequences, 12)
    np.testing.assert_allclose([step.log_likelihood for step in steps], history, atol=1e-6)
    np.testing.assert_allclose(steps[-1].start, model.startprob_, atol=1e-6)
    np.testing.assert_allclose(steps[-1].transitions, model.transmat_, atol=1e-6)
    np.testing.assert_allclose(steps[-1].emissions, model.emissionprob_, atol=1e-6)


def test_em_on_the_diary_equals_hmmlearn():
    steps = baum_welch(START, STAY, ICE_CREAMS, [DAYS], 11)
    history, model = by_hmmlearn(START, STAY, ICE_CREAMS, [DAYS], 11)
    np.testing.assert_allclose([step.log_likelihood for step in steps], history, atol=1e-6)
    np.testing.assert_allclose(steps[-1].emissions, model.emissionprob_, atol=1e-6)


@pytest.mark.parametrize("end", [False, True])
def test_em_step_equals_the_enumeration_of_paths(end):
    start, transitions, emissions, stop = random_model(7, 3, 2, end=end)
    sequences = [[0, 1, 1, 0, 1], [1], [0, 0]]
    step, after = baum_welch(start, transitions, emissions, sequences, 2, end=stop)
    expected, counts = enumerated(start, transitions, emissions, stop, sequences)
    assert step.log_likelihood == pytest.approx(expected, abs=1e-12)
    for name, table in counts.items():
        np.testing.assert_allclose(getattr(step.counts, name), table, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(step.start, np.array(counts["start"]) / 3, atol=1e-12)
    leaving = np.array(counts["transitions"])
    if end:
        leaving = np.column_stack([leaving, counts["end"]])
        np.testing.assert_allclose(step.end, (leaving / leaving.sum(1)[:, None])[:, -1])
    else:
        assert step.end is None
    shares = leaving / leaving.sum(1, keepdims=True)
    np.testing.assert_allclose(step.transitions, shares[:, :3], atol=1e-12)
    second, _ = enumerated(step.start, step.transitions, step.emissions, step.end, sequences)
    assert after.log_likelihood == pytest.approx(second, abs=1e-12)


def test_log_likelihood_never_decreases_with_an_end():
    steps = baum_welch(START, WEATHER, ICE_CREAMS, [DAYS], 40, end=STOP)
    history = [step.log_likelihood for step in steps]
    assert all(after >= before - 1e-12 for before, after in pairwise(history))
    # One diary of 33 days ends once: the 33 uses of a row end in STOP once, in all.
    counts = steps[0].counts
    assert counts.end.sum() == pytest.approx(1)
    assert counts.transitions.sum() == pytest.approx(32)
    assert counts.emissions.sum() == pytest.approx(33)


def test_symmetric_start_never_changes():
    even = [[1 / 3] * 3] * 2
    steps = baum_welch([0.5, 0.5], [[0.5, 0.5]] * 2, even, [DAYS], 5)
    shares = np.bincount(DAYS) / len(DAYS)
    for step in steps:  # both states are the same, and both emit what the diary holds
        np.testing.assert_allclose(step.transitions, 0.5, atol=1e-12)
        np.testing.assert_allclose(step.emissions, [shares, shares], atol=1e-12)
    assert steps[-1].log_likelihood == pytest.approx(steps[1].log_likelihood, abs=1e-10)


def test_em_keeps_zero_probabilities():
    emissions = [[0.7, 0.3, 0.0], [0.1, 0.2, 0.7]]
    for step in baum_welch([1.0, 0.0], STAY, emissions, [DAYS], 10):
        assert step.emissions[0, 2] == 0
        assert step.start.tolist() == [1, 0]


def test_unused_state_keeps_its_rows():
    transitions = [[1.0, 0.0], [0.4, 0.6]]
    (step,) = baum_welch([1.0, 0.0], transitions, [[0.5, 0.5], [0.2, 0.8]], [[0, 0, 1]], 1)
    assert step.transitions[1].tolist() == [0.4, 0.6]
    assert step.emissions[1].tolist() == [0.2, 0.8]
    np.testing.assert_allclose(step.emissions[0], [2 / 3, 1 / 3])


def test_tagged_sentences_are_counted_like_certain_posteriors():
    counts = MarkovCounts.zeros(2, 3)
    counts.add_path(np.array([2, 2, 0]), [1, 1, 0])
    assert counts.start.tolist() == [0, 1]
    assert counts.end.tolist() == [1, 0]
    assert counts.transitions.tolist() == [[0, 0], [1, 1]]
    assert counts.emissions.tolist() == [[1, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"start": [0.5, 0.6]}, CrfvizError, "start must sum to 1, got 1.1"),
        ({"transitions": WEATHER}, CrfvizError, "transitions, row 0, must sum to 1, got 0.9"),
        ({"emissions": [[0.5] * 3] * 2}, CrfvizError, "emissions, row 0, must sum to 1"),
        ({"start": [1.5, -0.5]}, CrfvizError, "start must hold probabilities from 0 to 1"),
        ({"start": [math.nan, 1]}, CrfvizError, "start must hold probabilities"),
        ({"end": STOP}, CrfvizError, "transitions and end, row 0, must sum to 1, got 1.1"),
        ({"transitions": [[1.0]]}, ShapeError, r"transitions must be \(2, 2\) for 2 states"),
        ({"emissions": [0.5, 0.5]}, ShapeError, r"emissions must be \(2, 2\)"),
        ({"start": []}, ShapeError, "start must be"),
        ({"sequences": []}, EmptySentenceError, "at least one sequence"),
        ({"sequences": [[0], []]}, EmptySentenceError, "sequence 2 is empty"),
        ({"sequences": [0, 1]}, ShapeError, "a list of sequences"),
        ({"sequences": [[0, 3]]}, UnknownObservationError, "sequence 1, position 2: unknown symbo"),
        ({"sequences": [[-1]]}, UnknownObservationError, "expected a number from 0 to 2"),
        ({"sequences": [[0.5]]}, UnknownObservationError, "unknown symbol 0.5"),
        ({"sequences": ["23"]}, UnknownObservationError, "unknown symbol '2'"),
        ({"iterations": 0}, CrfvizError, "iterations must be at least 1, got 0"),
        (
            {"emissions": [[0.5, 0.5, 0.0]] * 2, "sequences": [[0], [0, 2]]},
            NoPathError,
            "sequence 2 has probability 0",
        ),
    ],
)
def test_invalid_input_is_rejected_with_a_message(change, error, message):
    given = {
        "start": START,
        "transitions": STAY,
        "emissions": ICE_CREAMS,
        "sequences": [DAYS],
        "iterations": 1,
    }
    with pytest.raises(error, match=message):
        baum_welch(**(given | change))
