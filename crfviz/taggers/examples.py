"""Example sentences of a model, with claims that are checked.

`examples.jsonl` of a model folder holds one example per line: the text, its words, a claim, and
the kind of the claim. Each kind has a check on the tagger's potentials.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from crfviz.chain.constraints import illegal_positions
from crfviz.chain.decoding.analysis import greedy, max_marginal
from crfviz.chain.decoding.viterbi import k_best, viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError, ModelError
from crfviz.text.jsonl import json_value

EXAMPLES_FILE = "examples.jsonl"
GIVEN = "given"  # the kind of an uploaded sentence, which has no claim
NEAR = 0.9  # two paths nearly tie when the second has this share of the first's probability
UNSURE = 0.6  # no tag of a word has more than this marginal


@dataclass(frozen=True)
class Example:
    """One sentence with a claim about its decoders."""

    text: str  # as typed by a user
    tokens: tuple[str, ...]  # T words, as `tokenize(text)` gives them
    claim: str  # shown to users
    kind: str  # a key of CHECKS
    position: int | None = None  # the word the claim is about, from 0
    gold: tuple[str, ...] | None = None  # T tag names; None if unknown


def read_examples(path: Path) -> list[Example]:
    """Return the examples of a file, in its order; empty if the file is missing.

    Raises:
        ModelError: a line is not an example; names the line and the field.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:  # no check before: a model may be removed meanwhile
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from error
    examples = []
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        try:
            examples += [example_of(place, json_value(line))] if line.strip() else []
        except CrfvizError:
            raise
        except ValueError as error:
            raise ModelError(f"{place}: is no JSON ({error})") from error
    return examples


def write_examples(path: Path, examples: list[Example]) -> None:
    lines = [json.dumps(asdict(example), ensure_ascii=False) for example in examples]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def example_of(place: str, content: object) -> Example:
    """Return the example in a JSON object; `place` is file and line, for messages.

    Raises:
        ModelError: it is not an example; names the field.
    """
    if not isinstance(content, dict):
        raise ModelError(f"{place}: must be a JSON object, got {type(content).__name__}")

    def field(name: str, expected: str, fits: Callable[[Any], bool]) -> Any:  # noqa: ANN401 - `fits` checks the type
        value = content.get(name)
        if not fits(value):
            raise ModelError(f"{place}: field {name!r} must be {expected}, got {repr(value)[:80]}")
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
        kind=field("kind", f"one of {', '.join(CHECKS)}", lambda kind: kind in list(CHECKS)),
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


def holds(example: Example, chain: Potentials) -> bool:
    """Return whether the claim of an example holds for the potentials of its words.

    Raises:
        ModelError: the kind of the example is unknown.
    """
    if example.kind not in CHECKS:
        raise ModelError(f"{example.kind!r} is no kind of claim; known: {', '.join(CHECKS)}")
    return CHECKS[example.kind](chain, example)


Check = Callable[[Potentials, Example], bool]


def _differs(decode: Callable[[Potentials], list[int]]) -> Check:
    def differs(chain: Potentials, example: Example) -> bool:
        t = example.position
        return t is not None and decode(chain)[t] != viterbi(chain).path[t]

    return differs


def _viterbi_finds(chain: Potentials, example: Example) -> bool:
    return _names(chain, viterbi(chain).path) == example.gold


def _viterbi_right(chain: Potentials, example: Example) -> bool:
    others = [greedy(chain, "independent"), greedy(chain, "left_to_right")]
    return _viterbi_finds(chain, example) and all(
        _names(chain, path) != example.gold for path in others
    )


def _viterbi_wrong(chain: Potentials, example: Example) -> bool:
    if example.gold is None or example.position is None:
        return False
    tag = viterbi(chain).path[example.position]
    return chain.tag_names[tag] != example.gold[example.position]


def _near_tie(chain: Potentials, example: Example) -> bool:  # noqa: ARG001 - a check takes both
    """Check that the second-best path has nearly the probability of the best."""
    first, second = k_best(chain, 2)
    return second.probability >= NEAR * first.probability


def _unsure(chain: Potentials, example: Example) -> bool:
    """Check that no tag is clearly the likeliest at the position."""
    marginals = forward_backward(chain).marginals
    return example.position is not None and marginals[example.position].max().item() <= UNSURE


def _breaks_bio(chain: Potentials, example: Example) -> bool:
    broken = illegal_positions(_names(chain, greedy(chain, "independent")))
    kept = illegal_positions(_names(chain, viterbi(chain).path))
    return example.position in broken and not kept


CHECKS: Mapping[str, Check] = {
    "greedy_differs": _differs(partial(greedy, how="independent")),
    "left_to_right_differs": _differs(partial(greedy, how="left_to_right")),
    "max_marginal_differs": _differs(max_marginal),
    "viterbi_finds": _viterbi_finds,
    "viterbi_right": _viterbi_right,
    "viterbi_wrong": _viterbi_wrong,
    "near_tie": _near_tie,
    "tie": lambda chain, _: viterbi(chain).ties,
    "unsure": _unsure,
    "breaks_bio": _breaks_bio,
    GIVEN: lambda chain, example: chain.num_tokens == len(example.tokens),
}


def _names(chain: Potentials, path: list[int]) -> tuple[str, ...]:
    return tuple(chain.tag_names[tag] for tag in path)
