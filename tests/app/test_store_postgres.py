"""The tests of the store and of its tag sets on PostgreSQL, and an import of many sentences."""

import pytest

from crfviz.annotations.store.store import open_store
from tests.unit.annotations.test_everywhere import *  # noqa: F403 - its tests run here too
from tests.unit.annotations.test_store import *  # noqa: F403 - its tests run here too
from tests.unit.annotations.test_store import TEXT, annotation, sentence
from tests.unit.annotations.test_tagsets import *  # noqa: F403 - its tests run here too


@pytest.fixture
def url(cluster):
    return cluster.empty()


@pytest.fixture
def store(url):
    with open_store(url) as opened:
        yield opened


@pytest.mark.rotating
@pytest.mark.parametrize("place", ["sqlite", "postgresql"])
def test_fifty_thousand_sentences_are_imported_while_the_store_responds(place, tmp_path, request):
    url = f"sqlite:///{tmp_path}/a.db" if place == "sqlite" else request.getfixturevalue("url")
    with open_store(url) as store:
        store.add("a", [sentence()])
        (item,) = store.item_ids("a")
        reports = []

        def answer(done, total):
            reports.append((done, total))
            assert [d.name for d in store.documents()] == ["a"]  # nothing is half there

        store.add("big", [sentence(text=f"{TEXT} {n}") for n in range(50_000)], answer)
        assert reports[-1] == (50_000, 50_000)
        assert len(reports) == 50
        assert store.progress("big", "anna").total == 50_000
        assert store.items("big", start=49_999)[0].text == f"{TEXT} 49999"
        assert store.save(annotation(item)).revision == 1
