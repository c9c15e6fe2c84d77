"""Short sentences that show something.

`examples.jsonl` of a model folder holds one a line: the text, its words, a claim for people, and
what kind of claim it is (`crfviz.taggers.claims` proves it).
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crfviz.exceptions import ModelError

EXAMPLES_FILE = "examples.jsonl"
GIVEN = "given"  # the kind of a sentence that was brought: nothing is claimed of it
KINDS = (
    "greedy_differs",
    "left_to_right_differs",
    "max_marginal_differs",
    "viterbi_finds",
    "viterbi_right",
    "viterbi_wrong",
    "near_tie",
    "tie",
    "unsure",
    "breaks_bio",
    GIVEN,
)


@dataclass(frozen=True)
class Example:
    """One sentence with a claim about what the decoders make of it."""

    text: str  # as somebody would type it
    tokens: tuple[str, ...]  # T words, as `tokenize(text)` gives them
    claim: str  # for people
    kind: str  # for programs: one of KINDS
    position: int | None = None  # the word the claim is about, from 0
    gold: tuple[str, ...] | None = None  # T tag names, where a person knows them


def read_examples(path: Path) -> list[Example]:
    """The examples of a file, in its order.

    Raises:
        ModelError: a line is no example; says which line and which field.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from error
    examples = []
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        try:
            examples += [example_of(place, json.loads(line))] if line.strip() else []
        except json.JSONDecodeError as error:
            raise ModelError(f"{place}: is no JSON ({error})") from error
    return examples


def write_examples(path: Path, examples: list[Example]) -> None:
    """Write a file that `read_examples` reads."""
    lines = [json.dumps(asdict(example), ensure_ascii=False) for example in examples]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def example_of(place: str, content: object) -> Example:
    """An example from JSON.

    Args:
        place: file and line, for the message.
        content: an object with the fields of `Example`.

    Raises:
        ModelError: it is no example; says which field.
    """
    if not isinstance(content, dict):
        raise ModelError(f"{place}: must be a JSON object, got {type(content).__name__}")

    def field(name: str, expected: str, fits: Callable[[Any], bool]) -> Any:  # noqa: ANN401 - `fits` has decided the type
        value = content.get(name)
        if not fits(value):
            raise ModelError(f"{place}: field {name!r} must be {expected}, got {value!r}")
        return value

    tokens = tuple(field("tokens", "a list of words", _are_names))
    T = len(tokens)
    gold = field(
        "gold",
        f"null or a list of {T} tags",
        lambda tags: tags is None or (_are_names(tags) and len(tags) == T),
    )
    return Example(
        text=field("text", "a text", _is_name),
        tokens=tokens,
        claim=field("claim", "a text", _is_name),
        kind=field("kind", f"one of {', '.join(KINDS)}", lambda kind: kind in KINDS),
        position=field(
            "position",
            f"null or 0 to {T - 1}",
            lambda place: place is None or (type(place) is int and 0 <= place < T),
        ),
        gold=None if gold is None else tuple(gold),
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_name(word) for word in value)
