"""Lectures as text and as the name that carries them: both are read back as they were."""

import base64
import zlib
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.ui.lectures.lecture import Cue, Lecture, read_lecture
from crfviz.ui.lectures.lecture_store import (
    LINK_PREFIX,
    MAX_LINK_NAME,
    from_link_name,
    lecture,
    lectures,
    to_link_name,
    to_toml,
)
from crfviz.ui.state.scenario import PARTS, tags_of, with_covered
from tests.unit.ui.state.test_link import KNOWN, scenarios

WORDS = st.text(max_size=40).map(lambda text: text.replace("{", "").replace("}", "").strip())
ASKS = st.sampled_from(["", "viterbi(2)", "alpha('x','NOUN')"])


@st.composite
def cues(draw):
    state = draw(scenarios)
    view = with_covered(state.view, draw(st.lists(st.sampled_from(PARTS))))
    return Cue(
        page=draw(st.sampled_from(["", "viterbi"])),
        scenario=replace(state, view=view),
        say=draw(WORDS),
        holds=tuple(draw(st.lists(st.just("log_z() > 0"), max_size=2))),
        place="",
        ask=draw(ASKS),
    )


made = st.builds(
    Lecture,
    WORDS.filter(bool),
    st.floats(0, 1000),
    st.lists(cues(), min_size=1, max_size=3).map(tuple),
    st.just(()),
)


def read(text, tags):
    found = read_lecture(text, "mine.toml", KNOWN, lambda _: tags, ["", "viterbi"], pytest.fail)
    return replace(found, cues=tuple(replace(cue, place="") for cue in found.cues))


def tags_in(made):
    states = [cue.scenario for cue in made.cues]
    named = [{*tags_of(one.edits), *one.pins.values(), *one.right.values()} for one in states]
    return sorted({"NOUN"}.union(*named))


@given(made)
def test_written_lecture_is_read_back(before):
    text = to_toml(before)
    assert read(text, tags_in(before)) == before


@given(made)
def test_link_contains_the_whole_lecture(before):
    name = to_link_name(before)
    assert from_link_name(name) == to_toml(before)
    assert len(name) <= MAX_LINK_NAME


@pytest.mark.parametrize("name", sorted(lectures()))
def test_shipped_lectures_are_written_without_loss(name):
    before = lecture(name)
    text = to_toml(before)
    assert text.count("[[cue]]") == len(before.cues)
    assert from_link_name(to_link_name(before)) == text


BOMB = base64.urlsafe_b64encode(zlib.compress(b"#" * 50_000_000, 9)).decode().rstrip("=")


@given(st.text(max_size=60))
def test_any_link_is_read_or_rejected_with_a_message(text):
    for name in (
        LINK_PREFIX + text,
        LINK_PREFIX + base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode(),
    ):
        with pytest.raises(FormatError, match="has no lecture"):
            from_link_name(name)


@pytest.mark.parametrize(
    "name", [LINK_PREFIX, LINK_PREFIX + BOMB[:14_000], LINK_PREFIX + "A" * 20_000]
)
def test_truncated_or_exploding_link_is_rejected(name):
    with pytest.raises(FormatError, match="has no lecture"):
        from_link_name(name)


def test_lecture_too_long_for_a_link_is_rejected():
    cue = lecture("greedy").cues[0]
    say = ["".join(sha256(bytes([n, m])).hexdigest() for m in range(5)) for n in range(200)]
    many = [replace(cue, say=text) for text in say]
    with pytest.raises(FormatError, match="too long for a link"):
        to_link_name(Lecture("Long", 5.0, tuple(many), ()))
