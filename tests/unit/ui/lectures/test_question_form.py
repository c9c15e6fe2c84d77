"""The form of a cue's question: filled from a cue, read back, and the problems of its fields."""

from dataclasses import replace

import pytest

from crfviz.ui.lectures.question_form import MODEL, OWN, QuestionForm, form_of, read_form
from crfviz.views.quiz.own import OwnQuestion


@pytest.mark.parametrize(
    "ask",
    [
        "",
        "viterbi(3)",
        "viterbi('got')",
        'viterbi("\'s")',
        "alpha(2, 'NOUN')",
        "flips('DET', 'NOUN')",
        "log_z()",
        "likeliest()",
        "cost('.* NOUN (VERB|AUX)')",
        OwnQuestion("Why?", ("a", "b"), "", "b"),
        OwnQuestion("How many?", (), "number", "8"),
        OwnQuestion("Who?", (), "text"),
    ],
)
def test_form_of_a_question_is_read_back_unchanged(ask):
    assert read_form(form_of(ask, "viterbi"), "viterbi") == (ask, {})


@pytest.mark.parametrize(
    ("kind", "about", "ask"),
    [
        ("viterbi", "3", "viterbi(3)"),
        ("viterbi", "got", "viterbi('got')"),
        ("viterbi", "'s", 'viterbi("\'s")'),
        ("alpha", "2, NOUN", "alpha(2, 'NOUN')"),
        ("flips", "DET,NOUN", "flips('DET', 'NOUN')"),
        ("cost", ".* NOUN", "cost('.* NOUN')"),
        ("viterbi", "greedy(2)", "greedy(2)"),
        ("", "greedy(2)", "greedy(2)"),
    ],
)
def test_two_boxes_become_a_question_to_the_model(kind, about, ask):
    assert read_form(QuestionForm(MODEL, kind, about), "viterbi") == (ask, {})


@pytest.mark.parametrize(
    ("kind", "about", "page", "field", "message"),
    [
        ("viterbi", "", "viterbi", "about", "Type the word, such as 3."),
        ("alpha", "2", "viterbi", "about", "Type the word and tag, such as 3, NOUN."),
        ("", "why?", "viterbi", "about", "Type a question"),
        ("viterbi", "3", "models", "kind", "asked only on explore"),
    ],
)
def test_incomplete_question_to_the_model_is_explained(kind, about, page, field, message):
    ask, wrong = read_form(QuestionForm(MODEL, kind, about), page)
    assert (ask, list(wrong)) == ("", [field])
    assert message in wrong[field]


def test_own_question_is_incomplete_until_its_fields_are_filled():
    form = form_of("", "models")
    assert (form.by, read_form(form, "models")) == (OWN, ("", {}))
    form = replace(form, text="Why?")
    assert list(read_form(form, "models")[1]) == ["answers"]
    form = replace(form, choices="a\n\n b \n", right="b")
    assert read_form(form, "models") == (OwnQuestion("Why?", ("a", "b"), "", "b"), {})
    assert list(read_form(replace(form, answers="number"), "models")[1]) == ["right"]
