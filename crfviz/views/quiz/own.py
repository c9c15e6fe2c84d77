"""Questions that the author of a lecture writes, with choices or a typed answer.

In a lecture file a question is a table; `right` is optional:

    ask = {text = "Which tag has “got”?", answers = ["AUX", "VERB"], right = 2}
    ask = {text = "How many paths are there?", answers = "number", right = 4913}
    ask = {text = "Who proposed CRFs?", answers = "text"}
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crfviz.exceptions import FormatError

NUMBER, TEXT = "number", "text"  # values of `answers` for questions whose answer is typed
MIN_ANSWERS, MAX_ANSWERS = 2, 6
LONGEST_TEXT, LONGEST_ANSWER = 200, 80  # characters
KEYS = ("text", "answers", "right")


@dataclass(frozen=True)
class OwnQuestion:
    """A question of a lecture's author."""

    text: str
    answers: tuple[str, ...]  # the choices; empty if the answer is typed
    typed: str = ""  # NUMBER or TEXT; empty for choices
    right: str = ""  # the right answer; empty if there is none

    def __str__(self) -> str:
        """Return the question as a TOML inline table, for lecture files."""
        answers: object = self.typed or list(self.answers)
        table = {"text": self.text, "answers": answers}
        right: object = self.right
        if right and self.typed == NUMBER:
            right = json.loads(self.right)
        elif right and not self.typed:
            right = self.answers.index(self.right) + 1
        table |= {"right": right} if right != "" else {}
        pairs = (f"{key} = {_toml(value)}" for key, value in table.items())
        return f"{{{', '.join(pairs)}}}"

    def normalise(self, answer: str) -> str:
        """Return an answer in its normal form, in which equal ones are the same; "" if invalid."""
        if not self.typed:
            return answer if answer in self.answers else ""
        return normalise(answer, self.typed)


def normalise(answer: str, typed: str) -> str:
    """Return a typed answer in the normal form of NUMBER or TEXT; empty if it is invalid."""
    text = " ".join(answer.split())[:LONGEST_ANSWER]
    return text if typed == TEXT else _number(text)


def read_own(table: Mapping[str, object]) -> OwnQuestion:
    """Return the question of a table with the keys `KEYS`.

    Raises:
        FormatError: the table is invalid; the message says which key and what is expected.
    """
    for problem in problems(table).values():
        raise FormatError(problem)
    text, answers, right = (table.get(key) for key in KEYS)
    question = str(text).strip()
    if isinstance(answers, str):
        given = _typed(right, number=answers == NUMBER)
        return OwnQuestion(question, (), answers, given)
    choices = _choices(answers)
    return OwnQuestion(question, choices, right=choices[_place(right) - 1] if right else "")


def problems(table: Mapping[str, object]) -> dict[str, str]:
    """Return what is wrong with each key of a table, in words that say what is expected."""
    found = {
        key: f"expected the keys {', '.join(KEYS)}, got “{key}”" for key in table if key not in KEYS
    }
    text, answers, right = (table.get(key) for key in KEYS)
    if not isinstance(text, str) or not 0 < len(text.strip()) <= LONGEST_TEXT:
        found["text"] = f"expected a question of 1 to {LONGEST_TEXT} characters as text"
    if answers in (NUMBER, TEXT):
        if right not in (None, "") and not _typed(right, number=answers == NUMBER):
            kind = "a number" if answers == NUMBER else f"at most {LONGEST_ANSWER} characters"
            found["right"] = f"expected {kind} as right, got “{right}”"
        return found
    choices = _choices(answers)
    if choices is None:
        found["answers"] = f'expected a list of answers, "{NUMBER}" or "{TEXT}" as answers'
    elif not MIN_ANSWERS <= len(choices) <= MAX_ANSWERS:
        found["answers"] = f"expected two to six answers, got {len(choices)}"
    elif not all(0 < len(each) <= LONGEST_ANSWER for each in choices):
        found["answers"] = f"expected answers of 1 to {LONGEST_ANSWER} characters"
    elif len({each.casefold() for each in choices}) < len(choices):
        found["answers"] = "expected answers that differ"
    elif right is not None and not 1 <= _place(right) <= len(choices):
        found["right"] = f"expected a number from 1 to {len(choices)} as right, got “{right}”"
    return found


def _choices(answers: object) -> Any:  # noqa: ANN401 - a tuple of texts, or None
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        return None
    plain = [isinstance(each, str | int | float) and not isinstance(each, bool) for each in answers]
    return tuple(" ".join(str(each).split()) for each in answers) if all(plain) else None


def _place(right: object) -> int:
    """Return the number of the right answer, from 1; 0 if it is none."""
    return right if isinstance(right, int) and not isinstance(right, bool) else 0


def _typed(right: object, *, number: bool = False) -> str:
    """Return a right answer in its normal form; empty if it is invalid."""
    if isinstance(right, bool) or not isinstance(right, str | int | float):
        return ""
    text = " ".join(str(right).split())
    if number or not isinstance(right, str):
        return _number(text)
    return text if len(text) <= LONGEST_ANSWER else ""


def _number(text: str) -> str:
    """Return a typed number in its normal form; empty if it is none."""
    try:
        value = float(text.replace("−", "-").replace(",", "."))
    except ValueError:
        return ""
    return f"{value:.15g}" if math.isfinite(value) else ""


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
