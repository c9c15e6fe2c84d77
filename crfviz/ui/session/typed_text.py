"""The text in the sentence box: one sentence, or a paragraph of several."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from crfviz.exceptions import CrfvizError
from crfviz.text.sentence_ends import split_sentences
from crfviz.text.splitting import ENGLISH
from crfviz.ui import cached
from crfviz.ui.session.scenario_state import change_sentence, is_left, scenario
from crfviz.ui.session.session_store import get_value, set_value
from crfviz.ui.state.scenario import MAX_CHARACTERS, as_typed

_TYPED = "typed"  # session key: the paragraph typed last


def set_typed_sentence(text: str) -> None:
    """Replace the sentence with the text of its box; of several sentences, use the first.

    If the old sentence was already several in one, the new text is not split. After `go_to_link`
    the browser may still send the old sentence, which is ignored.
    """
    if is_left(text):
        return
    several = _sentences(text)
    if len(several) > 1 and len(_sentences(scenario().sentence)) < 2:
        set_value(_TYPED, Paragraph(text, several))
        text = several[0]
    change_sentence(text)


@dataclass(frozen=True)
class Paragraph:
    """A typed text of several sentences."""

    text: str
    sentences: Sequence[str]  # two or more
    at: int | None = 0  # index of the sentence on the screen; None for all as one

    @property
    def shown(self) -> str:
        """The sentence at `at`, or the whole text; on the screen unless changed since."""
        return as_typed(self.text) if self.at is None else self.sentences[self.at]


def typed_paragraph() -> Paragraph | None:
    """Return the typed text that the current sentence comes from, if it had several; else None."""
    typed: Paragraph | None = get_value(_TYPED)
    return typed if typed and typed.shown == scenario().sentence else None


def show_of_paragraph(typed: Paragraph, at: int | None) -> None:
    """Show another sentence of a typed text, or all as one."""
    typed = replace(typed, at=at)
    set_value(_TYPED, typed)
    change_sentence(typed.shown)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences by the model's tokenizer; English if the model is broken."""
    tokenizer = ENGLISH
    with suppress(CrfvizError):
        tokenizer = getattr(cached.tagger(scenario().model), "tokenizer", ENGLISH)
    return split_sentences(text[:MAX_CHARACTERS], tokenizer)
