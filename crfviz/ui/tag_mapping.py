"""The mapping from tags of a file to tags of the model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crfviz.taggers.tagger import Tagger
from crfviz.text.entities import usual_type
from crfviz.text.schemes import OUTSIDE, is_bio, split_tag, with_type
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.words import plain
from crfviz.views.formatting import count

MAX_TAGS = 60  # unknown tags to map; a file with more has a different kind of tags
COLUMNS = 4  # boxes per row


@dataclass(frozen=True)
class TagMapping:
    """The reader's mapping of a file's unknown tags; for BIO tags, of their entity types."""

    tagger: Tagger
    words: Mapping[str, int]  # the unknown tags of the file, with their numbers of words
    chosen: dict[str, str]  # from tags or types of the file to those of the tagger
    unset: str  # placeholder of an empty box

    @property
    def missing(self) -> list[str]:
        """The tags or types without a choice."""
        keys = sorted(set(map(self._key, self.words)))
        return [key for key in keys if self._to(key) == self.unset]

    def names(self) -> dict[str, str]:
        """Return the tagger's tag for each mapped tag of the file."""
        names = {}
        for tag in self.words:
            to = self._to(self._key(tag))
            if to != self.unset:
                names[tag] = with_type(tag, to) if self._bio and to != OUTSIDE else to
        return names

    def draw(self, name: str) -> None:
        """Draw a select box for each tag or type; the widget keys begin with `name`."""
        words: Counter[str] = Counter()
        for tag, number in self.words.items():
            words[self._key(tag)] += number
        options: Sequence[str] = self.tagger.tags
        if self._bio:
            options = [*sorted({split_tag(tag)[1] for tag in options} - {""}), OUTSIDE]
        columns = st.columns(COLUMNS)
        for place, key in enumerate(sorted(words)):
            bound_to(
                st.selectbox,
                f"{plain(key)} ({count(words[key], 'word')}) counts as",
                f"{name}.{self.tagger.name}.{key}",
                self._to(key),
                partial(self.chosen.__setitem__, key),
                at=columns[place % COLUMNS],
                options=[self.unset, *options],
            )

    def _to(self, key: str) -> str:
        """Return the choice for a tag or type; the default is the type with the same meaning."""
        if key in self.chosen:
            return self.chosen[key]
        types = {split_tag(tag)[1] for tag in self.tagger.tags} - {""} if self._bio else set()
        usual = usual_type(key)
        return usual if usual in types else self.unset

    @property
    def _bio(self) -> bool:
        return is_bio(self.tagger.tags) and all(split_tag(tag)[0] for tag in self.words)

    def _key(self, tag: str) -> str:
        return split_tag(tag)[1] if self._bio else tag
