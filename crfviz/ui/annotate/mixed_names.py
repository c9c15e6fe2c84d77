"""Names that stand under different types in a document: settled in one step, or right as they are.

In a sentence that the annotator alone has finished, settling changes this version. Other sentences
get a curated answer, as at the desk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from crfviz.annotations.curation import current, times_of
from crfviz.annotations.everywhere import retyped
from crfviz.annotations.records import CURATED, Annotation, Curation, DocumentSummary
from crfviz.annotations.store.names import save_all
from crfviz.corpus.tables.inconsistent_names import inconsistent_names
from crfviz.text.schemes import is_bio
from crfviz.text.sentences import words_at
from crfviz.ui.annotate.desk import annotation_of, desk_of
from crfviz.ui.annotate.documents import store, tagger_of
from crfviz.ui.annotate.queue import Queue, desk_link
from crfviz.ui.session.session_store import errors_beside, get_value, last_error_beside, set_value
from crfviz.ui.words import plain
from crfviz.views.formatting import count

MAX_NAMES, MAX_PLACES = 30, 8  # names, and sentences of each type
UNDO = "agreement.undo"  # widget key
_SETTLED = "names settled"  # session key


@dataclass(frozen=True)
class _Settled:
    """The name that was settled last."""

    document: str
    said: str
    steps: tuple[tuple[Annotation, Annotation], ...]  # each version before, and as it was stored


def mixed_names(document: DocumentSummary, who: str) -> None:
    """Draw the names under different types, each with a button per type; `who` settles them."""
    error, last = last_error_beside(UNDO), get_value(_SETTLED)
    if isinstance(last, _Settled) and last.document == document.name:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(last.said), width="content")
            if last.steps:
                st.button("Undo", key=UNDO, on_click=_undo, args=(document, last))
    if error:
        st.error(plain(error))
    pairs = current(store().annotations(document.name, state="done"))
    tagged = [(words_at(item.text, said.offsets), said.final) for item, said in pairs]
    right = document.settings.right_names
    names = [each for each in inconsistent_names(tagged) if each.name not in right]
    if not names:
        return
    st.markdown(f"**{count(len(names), 'name')} under different types**: settle, or right as it is")
    by_types = is_bio(tagger_of(document).tags)
    for each in names[:MAX_NAMES]:
        found, items = [], dict[str, set[int]]()
        for kind, numbers in each.types.items():
            places = {pairs[number][0].position: pairs[number][0].id for number in numbers}
            items[kind] = set(places.values())
            links = [f"[{place + 1}]({desk_link(item)})" for place, item in places.items()]
            more = f" and {len(links) - MAX_PLACES} more" if len(links) > MAX_PLACES else ""
            found.append(f"{plain(kind)} in {', '.join(links[:MAX_PLACES])}{more}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(each.name)}**: {' · '.join(found)}", width="stretch")
            for kind in each.types if by_types else ():
                st.button(
                    f"All {plain(kind)}",
                    key=f"agreement.settle.{(each.name, kind)!r}",
                    on_click=_settle,
                    args=(document, who, each.name, kind, _others(items, kind)),
                )
            st.button(
                "Right as it is",
                key=f"agreement.right.{each.name}",
                on_click=_accept_name,
                args=(document, each.name),
            )
    if len(names) > MAX_NAMES:
        st.caption(f"The first {MAX_NAMES} of {len(names):,}.")


def _others(items: Mapping[str, set[int]], kind: str) -> list[int]:
    """Return the sentences with other types than `kind`."""
    return sorted(set[int]().union(*(items[other] for other in items if other != kind)))


def _settle(
    document: DocumentSummary, who: str, name: str, kind: str, items: Sequence[int]
) -> None:
    """Give a name one type in sentences, all or none; other disagreements stay."""
    with errors_beside(UNDO):
        now = store().renewed(document)
        steps = [_step(now, who, item, name, kind) for item in items]
        steps = [(before, after) for before, after in steps if after is not before]
        saved = save_all(store(), [after for _, after in steps], tagger_of(now).tags)
        said = f"{name} is {kind} in {count(len(saved), 'more sentence')}."
        if left := len(items) - sum(each.state == "done" for each in saved):
            said += f" {count(left, 'sentence')} with other disagreements: settle at the desk."
        back = tuple((before, after) for (before, _), after in zip(steps, saved, strict=True))
        set_value(_SETTLED, _Settled(now.name, said, back))


def _step(
    document: DocumentSummary, who: str, item: int, name: str, kind: str
) -> tuple[Annotation, Annotation]:
    """Return the version of a sentence that changes, before and after."""
    versions = store().versions(item)
    own = [each.annotator for each in versions] == [who]
    settles = not own or store().annotation(item, CURATED) is not None
    desk = desk_of(Queue(document, who, [item], settles=settles), item, renew=False)
    before = annotation_of(desk)
    if settles:
        before = replace(before, curation=Curation(who, times_of(desk.versions)))
    return before, retyped(desk, before, name, kind)


def _undo(document: DocumentSummary, last: _Settled) -> None:
    with errors_beside(UNDO):
        back = [
            replace(before, revision=saved.revision, created=saved.created)
            for before, saved in last.steps
        ]
        save_all(store(), back, tagger_of(document).tags)
        set_value(_SETTLED, None)


def _accept_name(document: DocumentSummary, name: str) -> None:
    now = store().renewed(document)
    names = (*now.settings.right_names, name)
    store().change(now.name, replace(now.settings, right_names=names))
