"""The server is killed while somebody labels: what the page had confirmed is in the store."""

import os
import random
import signal

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.store.store import open_store
from tests.support.forked_server import fork
from tests.support.screen import PATIENCE

KEYS = "navb"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("forks")
def test_killed_server_loses_nothing_confirmed(fresh, tmp_path, seed):
    database = f"sqlite:///{tmp_path}/annotations.db"
    dice = random.Random(seed)
    with open_store(database) as store:
        store.add("dogs", read_items(b"The old man saw the sea .", "dogs").items)
        (item,) = store.item_ids("dogs")
        document = store.documents()[0].key
    page = fresh().new_page()
    with running_app(tmp_path / "server.log", {"CRFVIZ_DATABASE_URL": database}, fork) as app:
        page.goto(f"{app.url}/annotate?v.by=anna&v.doc={document}")
        labeller = page.locator("[data-labeller]")
        expect(labeller.locator(".chip").first).to_be_visible(timeout=PATIENCE)
        for key in range(12):
            page.keyboard.press(KEYS[key % len(KEYS)], delay=dice.randrange(0, 120))
            if key >= 3 and dice.random() < 0.3:
                break
        os.kill(app.pid, signal.SIGKILL)
        confirmed = int(labeller.get_attribute("data-revision"))
        tags = labeller.locator(".chip").evaluate_all("(all) => all.map((c) => c.dataset.tag)")
    with open_store(database) as store:
        stored = store.annotation(item, "anna")
    revision = stored.revision if stored else 0
    assert revision >= confirmed
    if revision == confirmed and stored:
        assert list(stored.final) == tags
