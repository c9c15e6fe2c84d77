"""What the tags of a file count as, where the model has not got them."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from crfviz.taggers.tagger import Tagger
from crfviz.text.schemes import OUTSIDE, is_bio, split_tag, with_type
from crfviz.ui.session.bound import bound_to
from crfviz.ui.session.kept import of_session
from crfviz.ui.words import plain
from crfviz.views.formatting import count

LEFT_OUT = "left out"
COLUMNS = 4
MOST_TAGS = 60  # a file with more strange tags is of another kind


def choose_names(digest: str, tagger: Tagger, unknown: Mapping[str, int]) -> None:
    """Draw a box for each tag of a file that the model lacks; for BIO tags one for each type.

    Args:
        digest: of the file.
        tagger: whose tags can be chosen.
        unknown: how many words have each of the tags.
    """
    if not 0 < len(unknown) <= MOST_TAGS:
        return
    chosen, bio = _chosen(digest, tagger), _bio(tagger, unknown)
    options = _types(tagger) if bio else tagger.tags
    words: dict[str, int] = {}
    for tag, number in unknown.items():
        key = split_tag(tag)[1] if bio else tag
        words[key] = words.get(key, 0) + number
    columns = st.columns(COLUMNS)
    for number, key in enumerate(sorted(words)):
        bound_to(
            st.selectbox,
            f"{plain(key)} ({count(words[key], 'word')}) counts as",
            f"annotate.map.{digest}.{tagger.name}.{key}",
            chosen.get(key, LEFT_OUT),
            partial(chosen.__setitem__, key),
            at=columns[number % COLUMNS],
            options=[LEFT_OUT, *options],
        )


def chosen_names(digest: str, tagger: Tagger, unknown: Mapping[str, int]) -> dict[str, str]:
    """The tag of the model for each tag of the file that was mapped."""
    chosen, bio = _chosen(digest, tagger), _bio(tagger, unknown)
    names = {}
    for tag in unknown:
        to = chosen.get(split_tag(tag)[1] if bio else tag, LEFT_OUT)
        if to != LEFT_OUT:
            names[tag] = with_type(tag, to) if bio and to != OUTSIDE else to
    return names


def _chosen(digest: str, tagger: Tagger) -> dict[str, str]:
    return of_session(f"tags {digest} {tagger.name}", dict[str, str])


def _bio(tagger: Tagger, unknown: Mapping[str, int]) -> bool:
    return is_bio(tagger.tags) and all(split_tag(tag)[0] for tag in unknown)


def _types(tagger: Tagger) -> list[str]:
    return [*sorted({split_tag(tag)[1] for tag in tagger.tags} - {""}), OUTSIDE]
