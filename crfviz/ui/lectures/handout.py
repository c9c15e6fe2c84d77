"""A lecture on paper: each cue's picture, what was said, a question with room for the answer.

The key with what was covered and what is right stands at the end. It is HTML without scripts that
asks for nothing; the style sheet `handout.css` says where a page of paper ends.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.lectures.claims import Chain, Facts, filled
from crfviz.ui.lectures.lecture import Cue, Lecture
from crfviz.ui.lectures.stills import as_address, still_of
from crfviz.ui.lectures.tables import tables_of
from crfviz.views.contents import at_path
from crfviz.views.formatting import count
from crfviz.views.quiz.question import Question, read_ask
from crfviz.views.quiz.selection import question

STYLE_SHEET = Path(__file__).with_name("handout.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LETTERS = "ABCDEF"  # of the choices


def handout(lecture: Lecture) -> str:
    """The whole file."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(lecture.title)}</title>"
        f"<style>{STYLE_SHEET.read_text('utf-8')}</style></head>"
        f"<body>{handout_body(lecture)}</body></html>\n"
    )


def handout_body(lecture: Lecture) -> str:
    """What is on the paper, as one element."""
    cues = "".join(_cue(number, cue) for number, cue in enumerate(lecture.cues, 1))
    keys = "".join(_key(number, cue) for number, cue in enumerate(lecture.cues, 1))
    length = f"{lecture.minutes:g} minutes, {count(len(lecture.cues), 'cue')}"
    return (
        f'<main class="crfviz-handout"><h1>{escape(lecture.title)}</h1><p>{length}</p>{cues}'
        f'<section class="key"><h1>Key</h1>{keys or "<p>Nothing was covered.</p>"}</section></main>'
    )


def _cue(number: int, cue: Cue) -> str:
    asked = _or_why(lambda: _asked(_question(cue))) if cue.ask else ""
    say = "" if asked else _say(cue)  # it tells what is asked: it waits in the key
    return f"<section>{_heading(number, cue)}{say}{_picture(cue, key=False)}{asked}</section>"


def _key(number: int, cue: Cue) -> str:
    """What the cue did not show; nothing where it showed everything."""
    try:
        seen, whole = ((still_of(cue, key=key), tables_of(cue, key=key)) for key in (False, True))
    except CrfvizError:
        return ""  # the cue says why
    answer = _or_why(lambda: _answer(_question(cue))) if cue.ask else ""
    if seen == whole and not answer:
        return ""
    say = _say(cue) if answer else ""
    return f"<section>{_heading(number, cue)}{say}{_picture(cue, key=True)}{answer}</section>"


def _say(cue: Cue) -> str:
    return _or_why(lambda: f'<p class="said">{escape(_said(cue))}</p>' if cue.say else "")


def _heading(number: int, cue: Cue) -> str:
    return f"<h2>{number} · {escape(at_path(cue.page).title)}</h2>"


def _picture(cue: Cue, *, key: bool) -> str:
    words = escape(cue.scenario.sentence, quote=True)

    def drawn() -> str:
        source = as_address(still_of(cue, key=key))
        return f'<img alt="The chain over: {words}" src="{source}">{tables_of(cue, key=key)}'

    return _or_why(drawn)


def _said(cue: Cue) -> str:
    now, trained = cached.edited(cue.scenario), cached.trained(cue.scenario)
    return filled(cue.say, Chain(Facts(now), Facts(trained)))


def _question(cue: Cue) -> Question | None:
    now, trained = cached.edited(cue.scenario), cached.trained(cue.scenario)
    return question(now, trained, read_ask(cue.ask))


def _asked(asked: Question | None) -> str:
    if asked is None:
        return ""
    choices = "".join(f"<li>{escape(choice.text)}</li>" for choice in asked.choices)
    return (
        f'<p class="asked">{escape(asked.text)}</p><ol type="A">{choices}</ol>'
        '<div class="room">Answer, and why:</div>'
    )


def _answer(asked: Question | None) -> str:
    if asked is None:
        return ""
    right = asked.choices[asked.right]
    others = "".join(
        f"<li>{_LETTERS[place]}: {escape(choice.mistake)}. {escape(choice.why)}</li>"
        for place, choice in enumerate(asked.choices)
        if choice.mistake
    )
    return (
        f'<p class="asked">{escape(asked.text)}</p><p><b>{_LETTERS[asked.right]}: '
        f"{escape(right.text)}.</b> {escape(right.why)}</p><ul>{others}</ul>"
    )


def _or_why(make: Callable[[], str]) -> str:
    """What is made, or why it cannot be."""
    try:
        return make()
    except CrfvizError as error:
        return f"<p>{escape(str(error))}</p>"
