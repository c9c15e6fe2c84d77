"""The address of a scenario: what is written is read back, and anything else does no harm."""

import math
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.chain.edits import END, START, Edits
from crfviz.ui.state import link as url
from crfviz.ui.state.scenario import (
    BEFORE_FIRST,
    MAX_CHARACTERS,
    MAX_SCORE,
    MAX_STEP,
    MAX_WORDS,
    Scenario,
)
from crfviz.ui.words import clean

MODELS = ["tiny", "other.model"]
FIRST = {"tiny": "Run !", "other.model": "He runs to Paris ."}
KNOWN = url.Models(MODELS, "tiny", FIRST.__getitem__)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(clean)
tags = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
scores = st.floats(-MAX_SCORE, MAX_SCORE) | st.just(-math.inf)
positions = st.integers(0, MAX_WORDS - 1)
moves = st.tuples(tags | st.just(START), tags | st.just(END)).filter(
    lambda move: move != (START, END)
)
edits = st.builds(
    Edits,
    transitions=st.dictionaries(moves, scores, max_size=5),
    emissions=st.dictionaries(st.tuples(positions, tags), scores, max_size=5),
    strength=st.floats(0.0, 2.0),
    constrained=st.booleans(),
)
options = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True), texts.filter(bool), max_size=4
)
scenarios = st.builds(
    Scenario,
    model=st.sampled_from(MODELS),
    sentence=texts,
    edits=edits,
    pins=st.dictionaries(positions, tags, max_size=4),
    right=st.dictionaries(positions, tags, max_size=4),
    view=options,
    step=st.integers(BEFORE_FIRST, MAX_STEP),
)


def encode(scenario):
    return url.encode(scenario, KNOWN)


def decode(params):
    return url.decode(params, KNOWN)


@given(scenarios)
def test_link_reproduces_the_scenario(scenario):
    link = encode(scenario)
    assert link.complete
    through_the_browser = dict(parse_qsl(urlencode(link.params), keep_blank_values=True))
    decoded = decode(through_the_browser)
    assert decoded.scenario == scenario
    assert decoded.ignored == []


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=60), max_size=6))
def test_any_query_gives_a_valid_scenario(params):
    decoded = decode(params)
    assert decode(encode(decoded.scenario).params).scenario == decoded.scenario


@given(
    st.fixed_dictionaries(
        {
            name: st.text(alphabet="0123456789.,:-+einfaANDET%_", max_size=30)
            for name in ("t", "e", "k", "c", "p", "step")
        }
    )
)
def test_nearly_valid_query_gives_a_valid_scenario(params):
    decoded = decode(params)
    numbers = [*decoded.scenario.edits.transitions.values(), decoded.scenario.edits.strength]
    assert not any(math.isnan(number) or number == math.inf for number in numbers)
    assert decode(encode(decoded.scenario).params).scenario == decoded.scenario


def test_default_scenario_has_an_empty_query():
    assert encode(Scenario("tiny", FIRST["tiny"])).params == {}
    assert decode({}).scenario == Scenario("tiny", FIRST["tiny"])


def test_another_model_opens_with_its_own_first_sentence():
    assert decode({"model": "other.model"}).scenario.sentence == FIRST["other.model"]


def test_query_is_short_and_readable():
    scenario = Scenario(
        "tiny",
        "Run !",
        edits=Edits({("DET", "NOUN"): 1.25, (START, "X"): -math.inf}, {(3, "NOUN"): 2.0}, 0.5),
        view={"rows": "viterbi.gold"},
        step=4,
    )
    assert encode(scenario).params == {
        "k": "0.5",
        "t": "DET.NOUN:1.25,START.X:-inf",
        "e": "3.NOUN:2",
        "step": "4",
        "v.rows": "viterbi.gold",
    }


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "nope"}, "model “nope” in the address: expected one of tiny, other.model"),
        ({"t": "A.B"}, "the first being “A.B”"),
        ({"t": "A.B:1e999"}, "the first being “A.B:1e999”"),
        ({"t": "A.B:nan"}, "the first being “A.B:nan”"),
        ({"t": "A.B:inf"}, "the first being “A.B:inf”"),
        ({"t": "A.B:1000001"}, "at most ±1,000,000 or -inf"),
        ({"t": "A:1"}, "the first being “A:1”"),
        ({"t": ".B:1"}, "the first being “.B:1”"),
        ({"t": "START.END:1"}, "the first being “START.END:1”"),
        ({"t": "A.B:１"}, "the first being “A.B:１”"),
        ({"e": "15000.A:1"}, "position.TAG:score"),
        ({"e": "-1.A:1"}, "position.TAG:score"),
        ({"p": "0"}, "position.TAG"),
        ({"k": "-1"}, "strength “-1” in the address: expected a number from 0 to 2"),
        ({"k": "3"}, "expected a number from 0 to 2"),
        ({"k": ""}, "strength “”"),
        ({"c": "no"}, "expected 0 or 1"),
        ({"step": "1.5"}, "expected a whole number from 0 to 10000"),
        ({"step": "99999"}, "expected a whole number from 0 to 10000"),
        ({"v.UP": "x"}, "the page option “UP”"),
        ({"v.rows": "x" * 65}, "the page option “rows”"),
        ({"colour": "red"}, "the part “colour”"),
        ({"sentence": "x" * 15_001}, "at most 15,000 characters"),
    ],
)
def test_each_invalid_part_is_reported(params, message):
    decoded = decode(params)
    assert len(decoded.ignored) == 1
    assert message in decoded.ignored[0]


def test_valid_parts_of_a_list_are_applied_beside_invalid_ones():
    decoded = decode({"t": "A.B:1,rubbish,C.D:-inf,also:bad", "k": "0.5", "step": "x"})
    assert decoded.scenario.edits == Edits({("A", "B"): 1.0, ("C", "D"): -math.inf}, strength=0.5)
    assert len(decoded.ignored) == 2
    assert "2 parts of t, the first being “rubbish”" in decoded.ignored[0]


def test_too_long_list_is_cut_and_reported():
    decoded = decode({"t": ",".join(f"A.B{number}:1" for number in range(5002))})
    assert len(decoded.scenario.edits.transitions) == 5000
    assert "2 parts of t" in decoded.ignored[0]


def test_too_long_sentence_is_left_out_with_its_positions():
    edits = Edits({("A", "B"): 1.0}, {(0, "A"): 1.0})
    long = Scenario("tiny", "😀" * MAX_CHARACTERS, edits=edits, pins={1: "A"}, step=3)
    link = encode(long)
    assert not link.complete
    assert link.params == {"t": "A.B:1"}


def test_too_many_edits_are_left_out_completely():
    emissions = {(position, f"TAG{k}"): 0.1 for position in range(120) for k in range(17)}
    link = encode(Scenario("tiny", "My own .", edits=Edits({}, emissions, 0.5)))
    assert not link.complete
    assert link.params == {"sentence": "My own .", "k": "0.5"}
    assert len(urlencode(link.params)) < url.LONGEST_LINK


@given(scenarios)
def test_encoded_changes_are_read_back(scenario):
    changed = decode(url.encode_changes(scenario)).scenario
    assert changed.edits == scenario.edits
    assert changed.pins == scenario.pins


def test_scenario_without_changes_encodes_to_nothing():
    assert url.encode_changes(Scenario("tiny", "Run !", step=3, view={"rows": "gold"})) == {}


def test_link_without_a_model_means_the_default():
    models = url.Models(["best", "lesson"], "best", {"best": "A b .", "lesson": "C d ."}.get)
    bare, lesson = Scenario("best", "A b ."), Scenario("lesson", "C d .")
    assert url.decode({}, models).scenario == bare
    assert url.encode(bare, models).params == {}
    assert url.decode({"step": "2"}, models).scenario == Scenario("best", "A b .", step=2)
    assert url.decode({"sentence": "E f ."}, models).scenario.model == "best"
    assert url.encode(replace(bare, step=2), models).params == {"step": "2"}
    assert url.encode(lesson, models).params == {"model": "lesson"}
    for state in (bare, lesson):
        for step in (0, 2):
            link = url.encode(replace(state, step=step), models)
            assert url.decode(link.params, models).scenario == replace(state, step=step)
            assert url.decode(link.elsewhere.params, models).scenario == state
