"""What is known of every model: its card and its measured figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crfviz.corpus.card import CARD_FILE, read_evaluations
from crfviz.corpus.report import Record
from crfviz.exceptions import CrfvizError
from crfviz.taggers.registry import SHIPPED
from crfviz.ui import cached
from crfviz.ui.scenario import need_frame
from crfviz.views.cards import card_body, card_summary


@dataclass(frozen=True)
class Card:
    """One model, as far as it can be read."""

    model: str
    text: str = ""  # markdown below the title; empty where there is no card
    ours: bool = False  # shipped with crfviz: others' markdown could load pictures from anywhere
    tags: tuple[str, ...] = ()
    evaluations: Mapping[str, Record] = field(default_factory=dict)  # by file
    problem: str | None = None  # why the model or its figures cannot be read


def cards() -> list[Card]:
    """A card for each model, the lesson's default first."""
    need_frame()
    return [_card(model) for model in cached.models()]


def summary(model: str) -> str:
    """One line about a model; empty where it has no card or cannot be loaded."""
    try:
        folder = cached.tagger(model).folder
        return card_summary((folder / CARD_FILE).read_text(encoding="utf-8"))
    except (CrfvizError, OSError, UnicodeDecodeError):
        return ""


def _card(model: str) -> Card:
    try:
        tagger = cached.tagger(model)
        path = tagger.folder / CARD_FILE
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return Card(
            model,
            text=card_body(text),
            ours=tagger.folder.parent == SHIPPED,
            tags=tagger.tags,
            evaluations=read_evaluations(tagger.folder),
        )
    except (CrfvizError, OSError, UnicodeDecodeError) as error:
        return Card(model, problem=str(error))
