"""Handouts: each cue's picture or tables, its text, and questions with room for answers.

The key at the end has the covered parts and the right answers. A handout is one HTML file without
scripts, and loads nothing; `handout.css` sets the page breaks.
"""

import base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

import pandas as pd
import streamlit as st
from torch import Tensor

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.log_space import cell_inputs, log_sum_exp, telling_position
from crfviz.chain.demonstrations.naive import words_that_fit
from crfviz.chain.questions.sensitivity import gradient_step
from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.lectures.expressions import chain_of, fill_in, question_of
from crfviz.ui.lectures.lecture import Cue, Lecture
from crfviz.ui.panels.demonstrations import TERM_FORMATS, enumeration
from crfviz.ui.panels.learning import history
from crfviz.ui.panels.why import question
from crfviz.ui.scene import scene_of
from crfviz.ui.stage import DIRECTION
from crfviz.ui.state.link_text import read_tag
from crfviz.ui.state.scenario import BEFORE_FIRST, RULE, Scenario, covered
from crfviz.views.contents import at_path
from crfviz.views.explanation import edit_list
from crfviz.views.figures.thumbnail import MARGINALS, still
from crfviz.views.formatting import count, signed
from crfviz.views.frames.chains import plain_table
from crfviz.views.frames.demonstrations import (
    alpha_line,
    direct_line,
    listing_note,
    path_frame,
    sum_line,
    sum_note,
    term_frame,
)
from crfviz.views.quiz.own import OwnQuestion
from crfviz.views.quiz.question import Question
from crfviz.views.stage.picture import Grid, Row
from crfviz.views.strips.paths import best_rows
from crfviz.views.strips.pictures import (
    alpha_grid,
    best_grid,
    beta_grid,
    emission_grid,
    marginal_grid,
)
from crfviz.views.strips.rules import UNDER_RULE, rule_row
from crfviz.views.strips.why import why_gap, why_note, why_row

STYLE_SHEET = Path(__file__).with_name("handout.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LETTERS = "ABCDEF"  # of the choices of a question
SEEN = 0.005  # nats; smaller terms are left out, as on the page
MAX_PATHS = 12  # rows of the table for Naive way
PATH_FORMATS = {"score": "{:.4f}", "p": "{:.3g}", "running sum / Z": "{:.6f}"}
WITH_MATRIX = ("transitions", "hmm", "learn")  # paths of the pages with a matrix
BEST_PATHS = 5  # rows in the picture of Paths
_RANKED = tuple(f"best_{rank}" for rank in range(1, BEST_PATHS + 1))
_ANSWERS = (
    "viterbi",
    "max_marginal",
    "path",
    MARGINALS,
    "best",
    "alpha",
    "beta",
    "why",
    UNDER_RULE,
    *_RANKED,
)


def handout(lecture: Lecture) -> str:
    """Return the handout of a lecture as a complete HTML file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(lecture.title)}</title>"
        f"<style>{STYLE_SHEET.read_text('utf-8')}</style></head>"
        f"<body>{handout_body(lecture)}</body></html>\n"
    )


def handout_body(lecture: Lecture) -> str:
    """Return the handout of a lecture as one HTML element."""
    cues = "".join(_cue(number, cue) for number, cue in enumerate(lecture.cues, 1))
    keys = "".join(_key(number, cue) for number, cue in enumerate(lecture.cues, 1))
    length = f"{lecture.minutes:g} minutes, {count(len(lecture.cues), 'cue')}"
    return (
        f'<main class="crfviz-handout"><h1>{escape(lecture.title)}</h1><p>{length}</p>{cues}'
        f'<section class="key"><h1>Key</h1>{keys or "<p>Nothing was covered.</p>"}</section></main>'
    )


def _cue(number: int, cue: Cue) -> str:
    question_text = _or_why(lambda: _question_html(_question_of(cue))) if cue.ask else ""
    say = "" if question_text else _say(cue)  # the text has the answer, so the key shows it
    return (
        f"<section>{_heading(number, cue)}{say}{_picture(cue, key=False)}{question_text}</section>"
    )


def _key(number: int, cue: Cue) -> str:
    """Return the entry of a cue in the key; empty if the cue hid nothing."""
    try:
        seen, whole = ((thumbnail(cue, key=key), tables_of(cue, key=key)) for key in (False, True))
    except CrfvizError:
        return ""  # the cue shows the error
    answer = _or_why(lambda: _answer(_question_of(cue))) if cue.ask else ""
    if seen == whole and not answer:
        return ""
    say = _say(cue) if answer else ""
    return f"<section>{_heading(number, cue)}{say}{_picture(cue, key=True)}{answer}</section>"


def _say(cue: Cue) -> str:
    if not cue.say:
        return ""
    return _or_why(
        lambda: f'<p class="said">{escape(fill_in(cue.say, chain_of(cue.scenario)))}</p>'
    )


def _heading(number: int, cue: Cue) -> str:
    return f"<h2>{number} · {escape(at_path(cue.page).title)}</h2>"


def _picture(cue: Cue, *, key: bool) -> str:
    words = escape(cue.scenario.sentence, quote=True)

    def drawn() -> str:
        source = data_uri(thumbnail(cue, key=key))
        picture = f'<img alt="The chain over: {words}" src="{source}">'
        edits = edits_of(cue.scenario)
        below = f'<p class="edits">{escape(edits)}</p>' if edits else ""
        return f"{picture}{below}{tables_of(cue, key=key)}"

    return _or_why(drawn)


def edits_of(state: Scenario) -> str:
    """Return the list of edits below a picture; empty if its scores are those of the model.

    Raises:
        CrfvizError: the model cannot read the sentence.
    """
    return edit_list(state.edits, cached.words(state.model, state.sentence))


def _question_of(cue: Cue) -> Question | OwnQuestion | None:
    return cue.own or question_of(cue.scenario, cue.of_model, cue.page)


def _question_html(question: Question | OwnQuestion | None) -> str:
    if question is None:
        return ""
    if isinstance(question, OwnQuestion):
        texts = question.answers
    else:
        texts = tuple(choice.text for choice in question.choices)
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    choices = f'<ol type="A">{items}</ol>' if items else ""
    return (
        f'<p class="asked">{escape(question.text)}</p>{choices}'
        '<div class="room">Answer, and why:</div>'
    )


def _answer(question: Question | OwnQuestion | None) -> str:
    if question is None:
        return ""
    if isinstance(question, OwnQuestion):
        place = question.answers.index(question.right) if question.right in question.answers else -1
        letter = f"{_LETTERS[place]}: " if place >= 0 else ""
        answer = f"<p><b>{letter}{escape(question.right)}</b></p>" if question.right else ""
        return f'<p class="asked">{escape(question.text)}</p>{answer}'
    right = question.choices[question.right]
    others = "".join(
        f"<li>{_LETTERS[place]}: {escape(choice.mistake)}. {escape(choice.why)}</li>"
        for place, choice in enumerate(question.choices)
        if choice.mistake
    )
    return (
        f'<p class="asked">{escape(question.text)}</p><p><b>{_LETTERS[question.right]}: '
        f"{escape(right.text)}.</b> {escape(right.why)}</p><ul>{others}</ul>"
    )


def _or_why(make: Callable[[], str]) -> str:
    """Return the result of `make`, or its error as a paragraph."""
    try:
        return make()
    except CrfvizError as error:
        return f"<p>{escape(str(error))}</p>"


def tables_of(cue: Cue, *, key: bool = False) -> str:
    """Return the tables of a cue's page as HTML.

    The result is empty if the page has none, or if they would show a hidden answer and `key` is
    false.

    Raises:
        CrfvizError: the scene cannot be drawn.
    """
    if not key and (cue.of_model or cue.scenario.step == BEFORE_FIRST):
        return ""
    every = {"why": _why, "log-space": _log_sum, "naive": _every_path, "em": _iterations}
    make = every.get(cue.page)
    return "" if make is None else make(cue.scenario)


def _why(state: Scenario) -> str:
    """Return the table of the score gap to the best path, word by word."""
    why_question = question(scene_of(state))
    if why_question is None:
        return ""
    gap = why_gap(why_question)
    words = [*why_question.chain.words, "END"]
    terms = zip(words, gap.transitions, gap.emissions, strict=False)
    rows = [
        {"word": word, "transition": signed(step), "emission": signed(own)}
        for word, step, own in terms
        if max(abs(step), abs(own)) >= SEEN
    ]
    table = plain_table(pd.DataFrame(rows), [])
    return f"{_line(gap.title)}{table}{_line(gap.foot)}{_line(why_note(why_question))}"


def _log_sum(state: Scenario) -> str:
    """Return the log-sum-exp of one cell of α, with and without the trick."""
    scene = scene_of(state)
    chain, tables, T = scene.now.potentials, scene.now.forward_backward, len(scene.words)
    best = scene.now.paths["viterbi"] or scene.now.greedy
    named = state.view.get("lse_word", "")
    telling = telling_position(chain, tables, best)
    at = int(named) if named.isdecimal() and 1 <= int(named) <= T else telling
    tag = read_tag(state.view.get("lse_tag", ""), scene.tags)
    k = best[min(at, T - 1)] if tag is None else scene.tags.index(tag)
    summed = log_sum_exp(cell_inputs(chain, tables, at, k))
    of_end = at == T
    weight = "end(j)" if of_end else f"w(j, {scene.tags[k]})"
    lines = [f"a = α({at}, j) + {weight}: {sum_line(summed)}"]
    lines += [direct_line(summed, precision) for precision in summed.direct]
    if not of_end:
        own = chain.emissions[at, k].item()
        lines.append(alpha_line(summed.result, own, (at + 1, scene.tags[k])))
    table = plain_table(term_frame(summed, scene.tags), [], TERM_FORMATS)
    return "".join(map(_line, lines)) + table


def _every_path(state: Scenario) -> str:
    """Return the table of the best paths of the first words, and a line with the sum."""
    scene = scene_of(state)
    fit = words_that_fit(scene.now.potentials)
    named = state.view.get("naive", "")
    words = int(named) if named.isdecimal() and 1 <= int(named) <= fit else fit
    if not words:
        return ""
    every = enumeration(state, words)
    frame = path_frame(every, scene.tags).head(MAX_PATHS)
    notes = _line(sum_note(every)) + _line(listing_note(every))
    return plain_table(frame, [], PATH_FORMATS) + notes


def _iterations(state: Scenario) -> str:
    """Return the table of log-likelihood and parameters for each EM iteration so far."""
    frame = history(scene_of(state))
    if frame is None:
        return ""
    names = [str(name) for name in frame.columns]
    return plain_table(frame.reset_index(), [], dict.fromkeys(names, "{:.4f}"))


def _line(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def thumbnail(cue: Cue, *, key: bool = False) -> str:
    """Return a cue's picture as SVG; covered parts and answers are drawn only if `key`.

    Raises:
        CrfvizError: the scene cannot be drawn.
    """
    hidden: set[str] = set()
    if not key:
        hidden.update(covered(cue.scenario.view))
        if cue.of_model or cue.scenario.step == BEFORE_FIRST:
            hidden.update(_ANSWERS)
        if cue.of_model:
            hidden.update(("greedy", "left_to_right"))
    return _still(cue.page, tuple(sorted(hidden)), repr(cue.scenario), cue.scenario)


def data_uri(svg: str) -> str:
    """Return a picture as a data URI."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@st.cache_data(max_entries=512, show_spinner=False)
def _still(page: str, hidden: tuple[str, ...], state: str, _scenario: Scenario) -> str:  # noqa: ARG001 - a part of the key
    now = cached.edited(_scenario)
    return still(
        now,
        hidden=hidden,
        rows=_rows(page, now, _scenario),
        grids=_grids(page, now, _scenario),
        matrices=_matrices(page, now, _scenario),
        direction=_scenario.view.get(DIRECTION, ""),
    )


def _rows(page: str, now: Analysis, state: Scenario) -> Sequence[Row]:
    if page == "paths":
        return best_rows(now, BEST_PATHS)
    with suppress(CrfvizError):  # a rule for other tags is not drawn
        if rule := state.view.get(RULE):
            return [rule_row(cached.matched(state, rule))]
    why_question = question(scene_of(state)) if page == "why" else None
    return [] if why_question is None else [why_row(why_question)]


def _grids(page: str, now: Analysis, state: Scenario) -> Sequence[Grid]:
    if page == "emissions":
        return [emission_grid(now, "score")]
    if page == "viterbi":
        return [best_grid(now, state.view.get("sweep", "log"))]
    if page in ("forward-backward", "log-space"):
        return [alpha_grid(now, "log", "included"), beta_grid(now, "log")]
    return [marginal_grid(now, None)] if page == "marginals" else []


def _matrices(page: str, now: Analysis, state: Scenario) -> dict[str, Tensor]:
    if page not in WITH_MATRIX:
        return {}
    matrices = {"transition scores (nats)": now.potentials.transitions}
    if page == "learn" and now.viterbi is not None:
        right = [state.right.get(t, now.tags[k]) for t, k in enumerate(now.viterbi.path)]
        step = gradient_step(now.potentials, right, 1.0)
        matrices["observed − expected counts"] = step.difference.transitions
    return matrices
