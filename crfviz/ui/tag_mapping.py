"""The tags of a file that a model lacks, each with the tag of the model that it counts as."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import OUTSIDE, is_bio, split_tag, with_type
from crfviz.ui.session.bound_widgets import bound_to
from crfviz.ui.words import plain
from crfviz.views.formatting import count

MAX_TAGS = 60  # a file with more strange tags is of another kind
COLUMNS = 4  # boxes beside each other


@dataclass(frozen=True)
class TagMapping:
    """The reader's choice of tags for tags of a file; of BIO tags the types are mapped."""

    tagger: Tagger
    words: Mapping[str, int]  # by tags of the file that the tagger lacks
    chosen: dict[str, str]  # tags of the tagger, by tags of the file; of BIO tags types
    unset: str  # stands in a box before

    @property
    def missing(self) -> list[str]:
        """Tags or types that nothing is chosen for."""
        keys = sorted(set(map(self._key, self.words)))
        return [key for key in keys if self.chosen.get(key, self.unset) == self.unset]

    def names(self) -> dict[str, str]:
        """Return the tag of the tagger for each tag of the file that is mapped."""
        names = {}
        for tag in self.words:
            to = self.chosen.get(self._key(tag), self.unset)
            if to != self.unset:
                names[tag] = with_type(tag, to) if self._bio and to != OUTSIDE else to
        return names

    def draw(self, name: str) -> None:
        """Draw a box for each tag or type; their keys begin with the name."""
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
                self.chosen.get(key, self.unset),
                partial(self.chosen.__setitem__, key),
                at=columns[place % COLUMNS],
                options=[self.unset, *options],
            )

    @property
    def _bio(self) -> bool:
        return is_bio(self.tagger.tags) and all(split_tag(tag)[0] for tag in self.words)

    def _key(self, tag: str) -> str:
        return split_tag(tag)[1] if self._bio else tag
