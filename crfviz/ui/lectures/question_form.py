"""The form of a cue's question as one value: what was typed, and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from crfviz.exceptions import FormatError
from crfviz.views.quiz.own import NUMBER, TEXT, OwnQuestion, problems, read_own
from crfviz.views.quiz.question import FORMS, read_ask
from crfviz.views.quiz.selection import PAGES, can_ask

MODEL, OWN = "model", "own"  # who asks
CHOICES = "choices"
ANSWERS = {CHOICES: "one of several", NUMBER: "a number", TEXT: "a short text"}
EXAMPLES = {
    ("word",): "3",
    ("word", "tag"): "3, NOUN",
    ("from", "to"): "DET, NOUN",
    ("rule",): ".* NOUN .*",
    (): "viterbi(3)",
}  # by the arguments of a question


@dataclass(frozen=True)
class QuestionForm:
    """The fields of the form, as typed."""

    by: str = MODEL
    kind: str = ""  # of a question to the model, one of `FORMS`; empty for no question
    about: str = ""  # its arguments, or the whole question
    text: str = ""
    answers: str = CHOICES  # one of `ANSWERS`
    choices: str = ""  # one per line
    right: str = ""


def form_of(ask: str | OwnQuestion, page: str) -> QuestionForm:
    """Return the form filled with the question of a cue on a page."""
    if isinstance(ask, OwnQuestion):
        kind = ask.typed or CHOICES
        return QuestionForm(OWN, "", "", ask.text, kind, "\n".join(ask.answers), ask.right)
    if not ask:
        return QuestionForm(MODEL if can_ask(page) else OWN)
    kind, _, about = ask.strip().removesuffix(")").partition("(")
    return QuestionForm(MODEL, kind.strip(), about)


def read_form(form: QuestionForm, page: str) -> tuple[str | OwnQuestion, Mapping[str, str]]:
    """Return the question of a form and the problems by field; "" without a question.

    Args:
        form: the fields.
        page: the page of the cue, which limits the questions to the model.
    """
    if form.by == OWN:
        return _own(form)
    if not form.kind and not form.about.strip():
        return "", {}
    if not can_ask(page):
        return "", {"kind": f"The model is asked only on {', '.join(PAGES)}."}
    ask = whole_question(form)
    try:
        read_ask(ask)
    except FormatError:
        arguments = " and ".join(FORMS.get(form.kind, ()))
        wanted = f"the {arguments}" if arguments else "a question"
        return "", {"about": f"Type {wanted}, such as {example(form.kind)}."}
    return ask, {}


def whole_question(form: QuestionForm) -> str:
    """Return the question to the model as lecture files write it, such as viterbi(3)."""
    about = form.about.strip()
    if about.partition("(")[0] in FORMS:
        return about
    arguments = FORMS.get(form.kind, ())
    parts = [about] if len(arguments) == 1 else about.split(",", 1)
    return f"{form.kind}({', '.join(_literal(part) for part in parts if part.strip())})"


def example(kind: str) -> str:
    """Return an example of the arguments of a question to the model."""
    return EXAMPLES[FORMS.get(kind, ())]


def _literal(text: str) -> str:
    """Return an argument as a literal: a number, a quoted text, or a text in quotes."""
    plain = text.strip()
    quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "'\""
    if plain.isdecimal() or quoted:
        return plain
    return repr(plain)


def _own(form: QuestionForm) -> tuple[str | OwnQuestion, Mapping[str, str]]:
    lines = [line.strip() for line in form.choices.splitlines() if line.strip()]
    table: dict[str, object] = {"text": form.text}
    if form.answers == CHOICES:
        table["answers"] = lines
        if form.right in lines:
            table["right"] = lines.index(form.right) + 1
    else:
        table["answers"] = form.answers
        if form.right.strip():
            table["right"] = form.right
    if not any((form.text.strip(), lines, form.right.strip())):
        return "", {}
    found = problems(table)
    return ("" if found else read_own(table)), found
