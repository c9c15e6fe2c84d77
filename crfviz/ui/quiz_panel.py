"""The quiz question over a page's picture, for "Ask me" and for cues of lectures.

The picture withholds the answer until the reader answers or skips. The link has the switch, the
question and the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.exceptions import CrfvizError
from crfviz.ui.live_room.broadcast import add_question
from crfviz.ui.session.components import OF_UI, component
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    change,
    flag_option,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import widget_value
from crfviz.ui.state.scenario import ASK, ASKED, MAX_WORDS, SAID, Scenario
from crfviz.ui.words import plain
from crfviz.views.quiz.question import Ask, Question, read_ask
from crfviz.views.quiz.selection import PAGES, next_question, question, withheld

ON, OF_CUE = "1", "cue"  # values of the page option `ASK`: "Ask me" is on, a cue asks
SKIPPED = "?"  # the answer of a reader who skips the question
NOTHING = "There is no question here: every candidate is a tie or too easy."
LONG = f"Questions are asked of sentences of up to {MAX_WORDS} words only."


@dataclass(frozen=True)
class Asked:
    """The question on the screen."""

    question: Question
    now: Analysis
    answer: str  # the text of a choice, SKIPPED, or empty while unanswered

    def withheld(self, rows: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return the cells that a stage with these rows must hide; none after the answer."""
        return [] if self.answer else withheld(self.now, self.question.ask, rows)


def with_question(state: Scenario, ask: str) -> Scenario:
    """Return the state with a question, or without one if `ask` is empty."""
    kept = {name: value for name, value in state.view.items() if name not in (ASK, ASKED, SAID)}
    asked = {ASK: OF_CUE, ASKED: ask} if ask else {}
    return Scenario(**{**vars(state), "view": {**kept, **asked}})


def waiting() -> bool:
    """Return whether the question of a cue is on the screen and unanswered."""
    view = scenario().view
    return view.get(ASK) == OF_CUE and ASKED in view and not view.get(SAID)


def ask_about(
    now: Analysis, trained: Analysis, page: str, first: Ask | None = None
) -> Asked | None:
    """Draw and return the question of this page; show a message if no question is possible.

    Args:
        now: the chain on the screen.
        trained: the chain without edits; the same object if there are none.
        page: the name of its picture; only those in `PAGES` have questions.
        first: a question to ask before the page's own questions, if it is valid.
    """
    switch = view_option(ASK)
    if page not in PAGES or switch not in (ON, OF_CUE):
        return None
    if now.whole is not None:
        st.caption(LONG)
        return None
    chosen = _named(now, trained)
    if chosen is None and switch == ON:
        chosen = question(now, trained, first) if first else None
        chosen = chosen or next_question(now, trained, page)
        if chosen is None:
            st.caption(NOTHING)
    if chosen is None:
        return None
    answer = view_option(SAID)
    known = answer in (SKIPPED, *(each.text for each in chosen.choices))
    asked = Asked(chosen, now, answer if known else "")
    _draw(asked, trained, page, of_cue=switch == OF_CUE)
    return asked


def _named(now: Analysis, trained: Analysis) -> Question | None:
    """Return the question in the link; show a message if it is invalid."""
    text = view_option(ASKED)
    if not text:
        return None
    try:
        ask = read_ask(text)
        named = question(now, trained, ask)
        problem = f"{ask} has no single right answer here, so it is not asked."
    except CrfvizError as error:
        named, problem = None, f"There is no such question: {error}"
    if named is None:
        st.caption(plain(problem))
    return named


def _draw(asked: Asked, trained: Analysis, page: str, *, of_cue: bool) -> None:
    shown = asked.question

    def answer() -> None:
        state = widget_value("question")
        text = state.get("answer") if isinstance(state, Mapping) else None
        if isinstance(text, str) and text in (SKIPPED, *(each.text for each in shown.choices)):
            set_view_option(SAID, text)

    def go_on() -> None:
        following = next_question(asked.now, trained, page, shown.ask)
        if following is not None:
            view = {name: kept for name, kept in scenario().view.items() if name != SAID}
            change(view={**view, ASKED: str(following.ask)})

    choices = [vars(each) for each in shown.choices]
    sentence = scenario().sentence
    tally = add_question(shown.text, choices, shown.right, sentence, closed=bool(asked.answer))
    component("question", *OF_UI)(
        key="question",
        data={
            "id": f"{shown.ask} {sentence}",
            "text": shown.text,
            "hint": shown.hint,
            "choices": choices,
            "right": shown.right,
            "said": asked.answer,
            "ofCue": of_cue,
            "tally": tally,
            "letters": not flag_option(NO_LETTERS),
        },
        on_answer_change=answer,
        on_next_change=go_on,
    )
