"""The quiz question over a page's picture, for "Ask me" and for cues of lectures.

The picture withholds the answer until the reader answers or skips. The link has the switch, the
question and the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from crfviz.chain.decoding.analysis import Analysis
from crfviz.exceptions import CrfvizError
from crfviz.ui.live_room.broadcast import Shown, add_question, times_asked, turnout
from crfviz.ui.session.components import OF_UI
from crfviz.ui.session.page_options import flag_option
from crfviz.ui.session.scenario_state import (
    NO_LETTERS,
    change,
    scenario,
    set_view_option,
    view_option,
)
from crfviz.ui.session.session_store import widget_value
from crfviz.ui.state.scenario import ASK, ASKED, MAX_WORDS, SAID, Scenario
from crfviz.ui.streamlit_compat import component
from crfviz.ui.words import plain
from crfviz.views.quiz.own import OwnQuestion
from crfviz.views.quiz.question import Ask, Question, read_ask
from crfviz.views.quiz.selection import PAGES, due, is_due, next_question, question, withheld

# Values of the page option `ASK`: "Ask me" is on, a cue asks the model or a question of its author.
ON, OF_CUE, OWN = "1", "cue", "own"
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


def with_question(state: Scenario, ask: str, *, own: bool = False) -> Scenario:
    """Return the state with a question: `ask`, or one that its cue has if `own`, or none."""
    kept = {name: value for name, value in state.view.items() if name not in (ASK, ASKED, SAID)}
    asked = {ASK: OWN} if own else {ASK: OF_CUE, ASKED: ask} if ask else {}
    return Scenario(**{**vars(state), "view": {**kept, **asked}})


def waiting() -> bool:
    """Return whether the question of a cue is on the screen and unanswered."""
    view = scenario().view
    asks = view.get(ASK) == OWN or (view.get(ASK) == OF_CUE and ASKED in view)
    return asks and not view.get(SAID)


def ask_about(
    now: Analysis,
    trained: Analysis,
    page: str,
    first: Ask | None = None,
    done: int | None = None,
) -> Asked | None:
    """Draw and return the question of this page; show a message if no question is possible.

    Args:
        now: the chain on the screen.
        trained: the chain without edits; the same object if there are none.
        page: the name of its picture; only those in `PAGES` have questions.
        first: a question to ask before the page's own questions, if it is valid.
        done: number of steps of the walk that are done; the question is then about the next column.
    """
    switch = view_option(ASK)
    if page not in PAGES or switch not in (ON, OF_CUE):
        return None
    if now.whole is not None:
        st.caption(LONG)
        return None
    chosen = _named(now, trained)
    places = due(page, done, len(now.words)) if done is not None and switch == ON else {}
    if chosen is not None and places and not is_due(chosen.ask, places):
        chosen = None
    if chosen is None and switch == ON:
        chosen = question(now, trained, first) if first else None
        chosen = chosen or next_question(now, trained, page, done=done)
        if chosen is None:
            st.caption(NOTHING)
    if chosen is None:
        return None
    answer = view_option(SAID)
    known = answer in (SKIPPED, *(each.text for each in chosen.choices))
    asked = Asked(chosen, now, answer if known else "")
    _draw(asked, trained, page, of_cue=switch == OF_CUE, done=done)
    return asked


def _named(now: Analysis, trained: Analysis) -> Question | None:
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


def _draw(
    asked: Asked, trained: Analysis, page: str, *, of_cue: bool, done: int | None = None
) -> None:
    shown = asked.question

    def answer() -> None:
        state = widget_value("question")
        text = state.get("answer") if isinstance(state, Mapping) else None
        if isinstance(text, str) and text in (SKIPPED, *(each.text for each in shown.choices)):
            set_view_option(SAID, text)

    def go_on() -> None:
        if done is not None and due(page, done, len(asked.now.words)):
            gone = {
                name: kept for name, kept in scenario().view.items() if name not in (SAID, ASKED)
            }
            change(view=gone, step=done + 1)
            return
        following = next_question(asked.now, trained, page, shown.ask)
        if following is not None:
            view = {name: kept for name, kept in scenario().view.items() if name != SAID}
            change(view={**view, ASKED: str(following.ask)})

    right = shown.choices[shown.right]
    texts = tuple(each.text for each in shown.choices)
    about = Shown(shown.text, texts, right.text, right.why, about=scenario().sentence)
    data = {
        "id": f"{shown.ask} {scenario().sentence} {times_asked()}",
        "hint": shown.hint,
        "choices": [vars(each) for each in shown.choices],
        "operands": shown.operands,
        "ofCue": of_cue,
    }
    _mount(about, asked.answer, data, answer, go_on)


def ask_own(question: OwnQuestion) -> None:
    """Draw the question that the author of a lecture wrote."""

    def answer() -> None:
        state = widget_value("question")
        text = state.get("answer") if isinstance(state, Mapping) else None
        if isinstance(text, str) and (text == SKIPPED or question.normalise(text)):
            set_view_option(SAID, text if text == SKIPPED else question.normalise(text))

    about = Shown(question.text, question.answers, question.right, typed=question.typed)
    choices = [{"text": text, "why": "", "mistake": ""} for text in question.answers]
    data = {"id": f"{question} {times_asked()}", "hint": "", "choices": choices, "ofCue": True}
    _mount(about, view_option(SAID), data, answer, lambda: None)


def _mount(
    shown: Shown,
    answer: str,
    data: Mapping[str, object],
    on_answer: Callable[[], None],
    on_next: Callable[[], None],
) -> None:
    """Draw a question in the browser; `answer` is the reader's, empty while there is none."""
    tally = add_question(shown, closed=bool(answer))
    choices: Sequence[str] = shown.choices
    if tally and shown.typed:
        choices = tally.texts
        data = {**data, "choices": [{"text": text, "why": "", "mistake": ""} for text in choices]}
    component("question", *OF_UI)(
        key="question",
        data={
            **data,
            "text": shown.text,
            "typed": shown.typed,
            "right": choices.index(shown.right) if shown.right in choices else None,
            "answer": shown.right,
            "why": shown.why,
            "said": answer,
            "tally": tally and {"counts": tally.counts, "before": tally.before},
            "turnout": None if answer else turnout(shown),
            "letters": not flag_option(NO_LETTERS),
        },
        on_answer_change=on_answer,
        on_next_change=on_next,
    )
