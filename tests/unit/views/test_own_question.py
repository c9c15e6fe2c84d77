"""Questions of a lecture's author: their tables, normal forms of answers, and what is refused."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfviz.exceptions import FormatError
from crfviz.views.quiz.own import OwnQuestion, normalise, problems, read_own

TEXT = st.text("aä\"'\\\n\t\x7f{}=,#–", min_size=1).map(lambda text: " ".join(text.split()))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("{text = 'Why?', answers = ['a', 'b'], right = 1}", ("", "a")),
        ("{text = 'Why?', answers = ['a', 'b']}", ("", "")),
        ("{text = 'Why?', answers = [1, 2.5], right = 2}", ("", "2.5")),
        ("{text = 'Why?', answers = 'number', right = 4913}", ("number", "4913")),
        ("{text = 'Why?', answers = 'number', right = '−0,50'}", ("number", "-0.5")),
        ("{text = 'Why?', answers = 'number'}", ("number", "")),
        (
            "{text = 'Why?', answers = 'text', right = ' Lafferty  et al. '}",
            ("text", "Lafferty et al."),
        ),
    ],
)
def test_table_becomes_a_question(table, expected):
    question = read_own(tomllib.loads(f"ask = {table}")["ask"])
    assert (question.typed, question.right) == expected
    assert read_own(tomllib.loads(f"ask = {question}")["ask"]) == question


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ({"answers": ["a", "b"]}, "text", "1 to 200 characters"),
        ({"text": " ", "answers": ["a", "b"]}, "text", "1 to 200 characters"),
        ({"text": "?", "answers": ["a"]}, "answers", "two to six answers, got 1"),
        ({"text": "?", "answers": list("abcdefg")}, "answers", "two to six answers, got 7"),
        ({"text": "?", "answers": ["a", "A"]}, "answers", "that differ"),
        ({"text": "?", "answers": ["a", ""]}, "answers", "1 to 80 characters"),
        ({"text": "?", "answers": "maybe"}, "answers", "list of answers"),
        ({"text": "?"}, "answers", "list of answers"),
        ({"text": "?", "answers": ["a", "b"], "right": 0}, "right", "number from 1 to 2"),
        ({"text": "?", "answers": ["a", "b"], "right": 3}, "right", "number from 1 to 2"),
        ({"text": "?", "answers": ["a", "b"], "right": "a"}, "right", "number from 1 to 2"),
        ({"text": "?", "answers": "number", "right": "many"}, "right", "a number as right"),
        ({"text": "?", "answers": "number", "right": float("nan")}, "right", "a number as right"),
        ({"text": "?", "answers": "text", "right": "x" * 81}, "right", "at most 80 characters"),
        ({"text": "?", "answers": ["a", "b"], "wrong": 1}, "wrong", "text, answers, right"),
    ],
)
def test_invalid_table_names_the_key(table, key, message):
    assert list(problems(table)) == [key]
    with pytest.raises(FormatError, match=message):
        read_own(table)


@given(
    TEXT.filter(bool),
    st.lists(TEXT.filter(bool), min_size=2, max_size=6, unique_by=str.casefold),
    st.data(),
)
def test_question_written_to_toml_is_read_unchanged(text, answers, data):
    right = data.draw(st.sampled_from(["", *answers]))
    question = OwnQuestion(text[:200], tuple(answers), "", right)
    assert read_own(tomllib.loads(f"ask = {question}")["ask"]) == question


@pytest.mark.parametrize(
    ("typed", "kind", "normal"),
    [
        (" 3,0 ", "number", "3"),
        ("−3", "number", "-3"),
        ("1e3", "number", "1000"),
        ("1234567890123", "number", "1234567890123"),
        ("three", "number", ""),
        ("inf", "number", ""),
        ("", "number", ""),
        ("  hidden   Markov ", "text", "hidden Markov"),
        (" ", "text", ""),
        ("x" * 100, "text", "x" * 80),
    ],
)
def test_typed_answers_have_one_normal_form(typed, kind, normal):
    assert normalise(typed, kind) == normal
