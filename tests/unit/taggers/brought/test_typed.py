"""Typed models: names, tables and rows in the units and spellings that people use."""

import math

import numpy as np
import pytest

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.brought.typed import FACTORS, PROBABILITIES, TypedModel, read_typed
from crfviz.taggers.brought.validated_model import validate
from tests.support import oracle

EMISSIONS, TRANSITIONS = "2 8\n5 1\n1 3", "9 1\n3 7"


def chain_of(reading=None, **texts):
    model = validate(read_typed(TypedModel(**texts)), reading or Reading())
    return model.sentences[0]


def factor_sum(emissions, transitions, start=(1, 1), end=(1, 1)):
    """Return the sum of the products of all paths, in plain Python."""
    total = 0.0
    for number in range(2 ** len(emissions)):
        path = [number >> t & 1 for t in range(len(emissions))]
        product = start[path[0]] * end[path[-1]]
        for t, k in enumerate(path):
            product *= emissions[t][k] * (transitions[path[t - 1]][k] if t else 1)
        total += product
    return total


def test_factors_of_any_size_become_logarithms():
    chain = chain_of(
        emissions=EMISSIONS, transitions=TRANSITIONS, start="2 1", end="1\n4", unit=FACTORS
    )
    rows = [[2, 8], [5, 1], [1, 3]], [[9, 1], [3, 7]], (2, 1), (1, 4)
    assert oracle.log_partition(chain) == pytest.approx(math.log(factor_sum(*rows)), abs=1e-12)


def test_probabilities_become_logarithms():
    chain = chain_of(
        emissions="0.5,0.1\n.25,.75", transitions="0.9,0.1\n0.3,0.7", unit=PROBABILITIES
    )
    np.testing.assert_allclose(chain.emissions.exp().numpy(), [[0.5, 0.1], [0.25, 0.75]])
    np.testing.assert_allclose(chain.transitions.exp().numpy(), [[0.9, 0.1], [0.3, 0.7]])


def test_scores_that_look_like_probabilities_are_a_question():
    texts = {"emissions": "0.2 0.8\n0.5 0.5", "transitions": "0.9 0.1\n0.3 0.7"}
    model = validate(read_typed(TypedModel(**texts)), Reading())
    assert model.question.endswith("these look like probabilities: take logarithms?")
    assert chain_of(Reading(probabilities=False), **texts).emissions[0, 0] == 0.2
    assert chain_of(Reading(probabilities=True), **texts).emissions[0, 0] == math.log(0.2)


@pytest.mark.parametrize(
    ("emissions", "transitions"),
    [
        (",N,V\nthe,1,2\ndog,3,4", ",N,V,END\nSTART,1,2,\nN,3,4,9\nV,5,6,-inf"),
        (",V,N\nthe,2,1\ndog,4,3", ",V,N,END\nSTART,2,1,–\nV,6,5,−∞\nN,4,3,9"),
        (",the,dog\nN,1,3\nV,2,4", "| from | N | V | END |\n| START | 1 | 2 | |\n"
         "| N | 3 | 4 | 9 |\n| V | 5 | 6 | -inf |"),
    ],
    ids=["labels", "another order", "turned"],
)  # fmt: skip
def test_labels_name_tags_words_start_and_end_in_any_order(emissions, transitions):
    chain = chain_of(emissions=emissions, transitions=transitions, tags="N V")
    assert (chain.tags, chain.tokens) == (("N", "V"), ("the", "dog"))
    assert chain.emissions.tolist() == [[1, 2], [3, 4]]
    assert chain.transitions.tolist() == [[3, 4], [5, 6]]
    assert (chain.start.tolist(), chain.end.tolist()) == ([1, 2], [9, -math.inf])


def test_numpy_output_and_json_rows_are_read():
    chain = chain_of(
        emissions="[[1, 2],\n [3, 4]]",
        transitions="array([[1., 0.],\n       [2., 1.]])",
        start="[0.5, -1]",
    )
    assert chain.transitions.tolist() == [[1, 0], [2, 1]]
    assert chain.start.tolist() == [0.5, -1]


@pytest.mark.parametrize("unit", ["scores", PROBABILITIES, FACTORS])
def test_without_transitions_no_tag_is_favoured(unit):
    for more in ({}, {"start": "0.5 0.5"}):
        chain = chain_of(emissions="0.5 0.3\n0.5 0.7", unit=unit, **more)
        assert chain.transitions.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"emissions": " "}, "emissions: type a row of numbers for each word"),
        ({"emissions": "1 2\n3"}, "emissions: line 2: expected 2 numbers"),
        ({"emissions": "1 2", "transitions": "1 x\n3 4", "tags": "N V"}, "transitions: line 1"),
        ({"emissions": "1 2", "transitions": ",A,B\nA,1,2\nB,3,4", "tags": "N V"}, "A, B"),
        ({"emissions": "1 -2", "unit": FACTORS}, "factors exp.score. are 0 or more, got -2"),
        ({"emissions": "1 2", "start": "1 2 3"}, "start must be"),
        ({"emissions": "1 2", "start": "1 2\n3 4"}, "start: expected one number a tag"),
        ({"emissions": "1 2", "tags": "A B C"}, "Expected 3 tags|Expected 2 tags|expected"),
        ({"emissions": "1 2\n3 4", "words": "a"}, "expected 2 tokens to match the emissions"),
        ({"emissions": "1 –\n3 4"}, "emissions: expected a number in each cell"),
    ],
)
def test_wrong_text_is_named(texts, message):
    with pytest.raises(FormatError, match=message):
        validate(read_typed(TypedModel(**texts)), Reading())
