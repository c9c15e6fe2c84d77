"""Tags of a file that a tagger does not have: the reader says what each of them counts as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from crfviz.corpus.run.tagging import unknown_tags
from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import OUTSIDE, split_tag, with_type
from crfviz.text.sentences import Sentence
from crfviz.ui.errors.source import Source, renamed
from crfviz.ui.session.bound import bound_to
from crfviz.ui.words import plain, quote

NOT_YET = "choose …"
COLUMNS = 4
MOST_TAGS = 60  # a file with more strange tags is of another kind


@st.cache_resource(show_spinner=False)
def _mappings() -> dict[tuple[str, str], dict[str, str]]:
    return {}


def mapped_sentences(tagger: Tagger, source: Source) -> Sequence[Sentence] | None:
    """The sentences in the tagger's tags; None while the reader has not mapped all of them.

    For BIO tags the types are mapped, B- and I- alike.
    """
    unknown = unknown_tags(tagger, source.sentences)
    if not unknown:
        return source.sentences
    if len(unknown) > MOST_TAGS:
        st.error(
            plain(
                f"{source.name} has {len(unknown)} tags that {tagger.name} lacks, among them "
                f"{quote(unknown[0])}: it seems to be tagged for something else. Choose another "
                "model on the left or another file."
            )
        )
        return None
    bio = tagger.scheme is not None and all(split_tag(tag)[0] for tag in unknown)
    keys = sorted({split_tag(tag)[1] for tag in unknown}) if bio else unknown
    chosen = _choose(tagger, source, keys, bio=bio)
    if missing := [key for key in keys if chosen.get(key, NOT_YET) == NOT_YET]:
        st.info(plain(f"Say what {', '.join(map(quote, missing))} should count as."))
        return None
    names = {tag: _target(tag, chosen) if bio else chosen[tag] for tag in unknown}
    return renamed(source.sentences, names)


def _choose(tagger: Tagger, source: Source, keys: Sequence[str], *, bio: bool) -> Mapping[str, str]:
    """A box for each tag or type, with how many words have it."""
    count = Counter(tag for sentence in source.sentences for tag in sentence.tags or ())
    if bio:
        types = sorted({split_tag(tag)[1] for tag in tagger.tags} - {""})
        options = [NOT_YET, *types, OUTSIDE]
    else:
        options = [NOT_YET, *tagger.tags]
    chosen = _mappings().setdefault((source.digest, tagger.name), {})
    st.markdown(f"**Tags that {plain(tagger.name)} does not have**")
    columns = st.columns(COLUMNS)
    for number, key in enumerate(keys):
        words = sum(n for tag, n in count.items() if key in (tag, split_tag(tag)[1]))
        with columns[number % COLUMNS]:
            bound_to(
                st.selectbox,
                f"{plain(key)} ({words:,} words) counts as",
                f"errors.map.{source.digest}.{tagger.name}.{key}",
                chosen.get(key, NOT_YET),
                partial(chosen.__setitem__, key),
                options=options,
            )
    return chosen


def _target(tag: str, chosen: Mapping[str, str]) -> str:
    kind = chosen[split_tag(tag)[1]]
    return OUTSIDE if kind == OUTSIDE else with_type(tag, kind)
