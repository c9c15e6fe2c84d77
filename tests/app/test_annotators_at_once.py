"""Annotators at once on one server: each row of the store is what was confirmed, none else is."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from benchmarks.serving import running_app
from crfviz.annotations.store.store import open_store
from tests.support import annotators
from tests.support.forked_server import fork

ANNOTATORS = 5
SECONDS = 2.0
PACE = (0.0, 0.3)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """The store after five annotators, and the annotators."""
    with running_app(tmp_path_factory.mktemp("app") / "server.log", start=fork) as app:
        shared = annotators.stored(app.database, "shared", annotators.sentences(4, "s"))
        people = []
        for number in range(ANNOTATORS):
            own = annotators.stored(
                app.database, f"own {number}", annotators.sentences(2, f"{number}")
            )
            keys = [own, shared] if number % 2 else [shared, own]
            people.append(annotators.Annotator(app.url, f"annotator {number}", keys))
        with ThreadPoolExecutor(1) as thread:  # this one may have Playwright's event loop
            thread.submit(asyncio.run, annotators.all_work(people, SECONDS, PACE)).result()
        with open_store(app.database) as store:
            yield store, people


def test_concurrent_annotators_store_exactly_their_confirmed_rows(labelled):
    store, people = labelled
    assert list(annotators.differences(store, people)) == []
    assert [each.problems for each in people] == [[]] * ANNOTATORS
    assert all(each.seconds for each in people)
    of_shared = {a.annotator for _, a in store.annotations("shared")}
    assert len(of_shared) > 1

    # A row that was changed or added is found. Here, because it changes the store.
    item, first = store.annotations()[0]
    store.save(replace(first, seconds=first.seconds + 1))
    store.save(replace(first, annotator="nobody", revision=0))
    found = list(annotators.differences(store, people))
    assert len(found) == 2
    assert all(str(item.id) in line for line in found)
