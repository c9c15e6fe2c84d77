"""The fields of a cue's question in the editor, with each problem beside its field."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from crfviz.ui.lectures.question_form import (
    ANSWERS,
    CHOICES,
    MODEL,
    OWN,
    QuestionForm,
    example,
)
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.words import plain
from crfviz.views.quiz.own import LONGEST_TEXT
from crfviz.views.quiz.question import FORMS
from crfviz.views.quiz.selection import PAGES

BY = {MODEL: "from the model", OWN: "my own"}
KINDS = {
    "greedy": "tag of a word, independent",
    "viterbi": "tag of a word on the best path",
    "max_marginal": "tag of a word with the largest marginal",
    "alpha": "α of a word and a tag",
    "beta": "β of a word and a tag",
    "best": "best score up to a word and a tag",
    "marginal": "marginal of a word and a tag",
    "backpointer": "tag before a word and a tag",
    "flips": "does the best path change without a transition?",
    "log_z": "log Z without a transition, or after the edits",
    "likeliest": "which path is likeliest?",
    "cost": "cost of a rule",
}


def question_fields(
    form: QuestionForm,
    wrong: Mapping[str, str],
    page: str,
    change: Callable[[QuestionForm], None],
) -> None:
    """Draw the fields of a question.

    Args:
        form: the values of the fields.
        wrong: the problems by field.
        page: the page of the cue, whose kinds of questions come first.
        change: called with the form after each change.
    """
    bound_to(
        st.segmented_control,
        "Question before the answer shows",
        "own.by",
        form.by,
        lambda by: change(replace(form, by=by)),
        options=list(BY),
        format_func=BY.get,
        required=True,
    )
    if form.by == MODEL:
        _of_model(form, wrong, page, change)
    else:
        _own(form, wrong, change)


def show_problem(text: str | None) -> None:
    """Draw what is wrong with the field above."""
    if text:
        st.error(plain(f"{text[0].upper()}{text[1:]}"))


def _of_model(
    form: QuestionForm,
    wrong: Mapping[str, str],
    page: str,
    change: Callable[[QuestionForm], None],
) -> None:
    kinds = dict.fromkeys([*PAGES.get(page or "explore", ()), *FORMS])
    left, right = st.columns((3, 2))
    with left:
        bound_to(
            st.selectbox,
            "Asks for",
            "own.kind",
            form.kind if form.kind in kinds else None,
            lambda kind: change(replace(form, kind=kind or "", about="")),
            options=list(kinds),
            format_func=KINDS.get,
        )
        show_problem(wrong.get("kind"))
    with right:
        bound_to(
            st.text_input,
            " and ".join(FORMS.get(form.kind, ())).capitalize() or "Question",
            "own.ask",
            form.about,
            lambda about: change(replace(form, about=about)),
            placeholder=example(form.kind),
            help="A word is its number, or its text; a tag is its name.",
        )
        show_problem(wrong.get("about"))


def _own(
    form: QuestionForm, wrong: Mapping[str, str], change: Callable[[QuestionForm], None]
) -> None:
    bound_to(
        st.text_input,
        "Your question",
        "own.text",
        form.text,
        lambda text: change(replace(form, text=text)),
        max_chars=LONGEST_TEXT,
    )
    show_problem(wrong.get("text"))
    bound_to(
        st.segmented_control,
        "The answer is",
        "own.answers",
        form.answers,
        lambda kind: change(replace(form, answers=kind, right="")),
        options=list(ANSWERS),
        format_func=ANSWERS.get,
        required=True,
    )
    if form.answers != CHOICES:
        bound_to(
            st.text_input,
            "Right answer (optional)",
            "own.right",
            form.right,
            lambda right: change(replace(form, right=right)),
        )
        show_problem(wrong.get("right"))
        return
    bound_to(
        st.text_area,
        "Answers, one per line",
        "own.choices",
        form.choices,
        lambda choices: change(replace(form, choices=choices)),
        height=120,
    )
    show_problem(wrong.get("answers"))
    lines = list(dict.fromkeys(line.strip() for line in form.choices.splitlines() if line.strip()))
    bound_to(
        st.selectbox,
        "Right answer (optional)",
        "own.right_choice",
        form.right if form.right in lines else None,
        lambda right: change(replace(form, right=right or "")),
        options=lines,
        placeholder="none",
    )
    show_problem(wrong.get("right"))
