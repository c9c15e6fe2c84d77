"""One entity of a sentence: its exact probability, its rivals, and usual shortcuts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.entities import (
    Rival,
    entity_probability,
    entity_rivals,
    entity_shortcuts,
    entity_types,
)
from crfviz.exceptions import CrfvizError
from crfviz.text.schemes import spans
from crfviz.views.formatting import format_probability

MAX_RIVALS = 7  # rivals with their own row; the rest share one row
NO_ENTITY = "no entity at these words"

Span = tuple[str, int, int]  # type, first word, last word, both included
_NO_RIVALS = ("this entity", "all others")


@dataclass(frozen=True)
class Chip:
    """An entity on the best path."""

    label: str  # its type
    first: int  # position of its first word
    last: int  # position of its last word, included
    probability: float


@dataclass(frozen=True)
class Hypothesis:
    """A candidate for the words of the entity: itself, a rival, or none."""

    text: str
    relation: str  # "this entity", "other type", "other boundaries", "none" or "all others"
    probability: float
    trained: float | None  # the same in the chain as trained; None where nothing is edited
    span: Span | None  # None if the row is not a single entity


@dataclass(frozen=True)
class Shortcut:
    """A number that is often shown instead of the probability."""

    name: str
    value: float
    error: float  # value - probability


@dataclass(frozen=True)
class EntityPanel:
    """The data of the entity panel on the stage."""

    types: Sequence[str]
    on_path: Sequence[Chip]
    label: str
    first: int
    last: int
    title: str
    probability: float
    trained: float | None
    hypotheses: Sequence[Hypothesis]  # likeliest first, the last row is all others; sum to 1
    total: float  # what they sum to
    shortcuts: Sequence[Shortcut]
    note: str


def path_entities(tags: Sequence[str]) -> list[Span]:
    """Return the entities of a sequence of tag names, last word included.

    >>> path_entities(["B-PER", "I-PER", "O"])
    [('PER', 0, 1)]
    """
    return [(span.type, span.start, span.end - 1) for span in spans(tags)]


def entity_panel(
    now: Potentials,
    span: Span,
    words: Sequence[str],
    *,
    path: Sequence[int],
    trained: Potentials | None = None,
    rule: str | None = None,
) -> EntityPanel:
    """Return the panel of one entity.

    Args:
        now: the chain, with BIO tags.
        span: type, first and last word of the entity.
        words: T words.
        path: T tag ids of the best path.
        trained: the chain before the edits, if any.
        rule: counts only the paths that match this rule, if given.

    Raises:
        UnknownTagError: there is no such type.
        ShapeError: the words are not in the sentence.
        NoPathError: every path is forbidden.
    """
    label, first, last = span
    probability = entity_probability(now, *span[1:], span[0], rule=rule)
    before = _masses(trained, span, rule) if trained is not None else None
    own = Rival(label, first, last, "none", probability)
    ranked = sorted(
        [own, *entity_rivals(now, *span[1:], span[0], rule=rule)],
        key=lambda rival: -rival.probability,
    )
    hypotheses = _folded(ranked, own, words, before)
    exact = entity_shortcuts(now, *span[1:], span[0], rule=rule)
    names = {"mean": exact.mean, "product": exact.product, "minimum": exact.minimum}
    shortcuts = [Shortcut(name, value, value - probability) for name, value in names.items()]
    title = _text(span, words)
    return EntityPanel(
        types=entity_types(now),
        on_path=[
            Chip(*entity, entity_probability(now, *entity[1:], entity[0], rule=rule))
            for entity in path_entities([now.tag_names[k] for k in path])
        ],
        label=label,
        first=first,
        last=last,
        title=title,
        probability=probability,
        trained=None if before is None else before.get(span, 0.0),
        hypotheses=hypotheses,
        total=math.fsum(hypothesis.probability for hypothesis in hypotheses),
        shortcuts=shortcuts,
        note=_note(title, probability, hypotheses, shortcuts),
    )


def _masses(
    potentials: Potentials, span: Span, rule: str | None
) -> dict[Span | None, float] | None:
    """Return the probability of every hypothesis; None if no path is allowed."""
    try:
        masses: dict[Span | None, float] = {
            span: entity_probability(potentials, *span[1:], span[0], rule=rule)
        }
        rivals = entity_rivals(potentials, *span[1:], span[0], rule=rule)
    except CrfvizError:
        return None
    return masses | {_span(rival): rival.probability for rival in rivals}


def _folded(
    ranked: Sequence[Rival],
    own: Rival,
    words: Sequence[str],
    before: Mapping[Span | None, float] | None,
) -> list[Hypothesis]:
    """Return the first rivals and the entity itself in order, then all others as one."""
    shown = {_span(own), *[_span(rival) for rival in ranked if rival is not own][:MAX_RIVALS]}
    rows = [
        Hypothesis(
            text=NO_ENTITY if span is None else _text(span, words),
            relation="this entity" if rival is own else rival.relation,
            probability=rival.probability,
            trained=None if before is None else before.get(span, 0.0),
            span=span,
        )
        for rival in ranked
        if (span := _span(rival)) in shown
    ]
    tail = [rival.probability for rival in ranked if _span(rival) not in shown]
    if not tail:
        return rows
    rest = None
    if before is not None:
        rest = math.fsum(mass for span, mass in before.items() if span not in shown)
    text = f"all others ({len(tail)})"
    return [*rows, Hypothesis(text, "all others", math.fsum(tail), rest, None)]


def _note(
    title: str,
    exact: float,
    hypotheses: Sequence[Hypothesis],
    shortcuts: Sequence[Shortcut],
) -> str:
    worst = max(shortcuts, key=lambda shortcut: abs(shortcut.error))
    if abs(worst.error) < 5e-5:
        off = "Mean, product and minimum of the words' marginals say the same here."
    else:
        side = "high" if worst.error > 0 else "low"
        value = format_probability(worst.value, 4)
        off = (
            f"The {worst.name} of the words' marginals would say {value}, "
            f"{abs(worst.error):.4f} too {side}."
        )
    rivals = [h for h in hypotheses if h.relation not in _NO_RIVALS]
    if not rivals:
        return f"{title} has probability {format_probability(exact, 4)}. {off}"
    first = rivals[0]
    return (
        f"{title} has probability {format_probability(exact, 4)}; its strongest rival is "
        f"{first.text} ({format_probability(first.probability, 4)}). {off}"
    )


def _span(rival: Rival) -> Span | None:
    if rival.label is None or rival.first is None or rival.last is None:
        return None
    return rival.label, rival.first, rival.last


def _text(span: Span, words: Sequence[str]) -> str:
    """Return the type and the quoted words; only the first and last of many words."""
    label, first, last = span
    if last - first > 4:
        return f"{label} “{words[first]} … {words[last]}” ({last - first + 1} words)"
    return f"{label} “{' '.join(words[first : last + 1])}”"
