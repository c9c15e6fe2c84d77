"""The server is killed a hundred times while it is used: what it had confirmed is in the store."""

import asyncio
import os
import random
import signal
import sqlite3

import pytest

from benchmarks.serving import running_app
from crfviz.annotations.store.store import open_store
from tests.support.forked_server import fork
from tests.support.loops import run

KILLS = 10  # in each of ten tests
KEYS = (1, 12)  # are confirmed before the kill
LONGEST = 0.05  # seconds from then to the kill, as long as a key takes
PACE = (0.0, 0.02)

pytestmark = [pytest.mark.usefixtures("forks")]


def killed_while_labelling(annotator, app, keys, after):
    """Let somebody label, and kill the server so many seconds after so many confirmed keys."""

    async def work():
        labelling = asyncio.ensure_future(annotator.work(120, PACE))
        while len(annotator.seconds) < keys and not labelling.done():
            await asyncio.sleep(0.005)
        await asyncio.sleep(after)  # not to wait: the moment of the kill
        os.kill(app.pid, signal.SIGKILL)
        await asyncio.wait([labelling])
        return labelling.exception()

    return run(work())


def assert_confirmed(store, annotator):
    """Every confirmed row is there; of one sentence there may be one step more, not yet told."""
    rows = {a.item: a for _, a in store.annotations() if a.annotator == annotator.name}
    ahead = 0
    for item, known in annotator.confirmed.items():
        row = rows.pop(item, None)
        if row is None:
            assert known.revision == 0
            continue
        if row.revision == known.revision:
            assert (row.state, list(row.final), dict(row.pins)) == (
                known.state,
                known.tags,
                known.pins,
            )
        else:
            assert row.revision == known.revision + 1
            ahead += 1
    assert ahead <= 1
    assert not rows


@pytest.mark.parametrize("number", range(10))
def test_ten_kills_lose_nothing(number, labelling_benchmark, tmp_path):
    benchmark = labelling_benchmark
    moments = random.Random(number)
    database = f"sqlite:///{tmp_path}/labels.db"
    document = benchmark.stored(database, "all", benchmark.sentences(60, "s"))
    people = []
    for kill in range(KILLS):
        moment = moments.randint(*KEYS), moments.uniform(0, LONGEST)
        log = tmp_path / f"{kill}.log"
        with running_app(log, {"CRFVIZ_DATABASE_URL": database}, fork) as app:
            people.append(benchmark.Annotator(app.url, f"annotator {kill}", [document]))
            assert killed_while_labelling(people[-1], app, *moment) is not None
        with sqlite3.connect(tmp_path / "labels.db") as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with open_store(database) as store:
            for each in people:  # no later kill has touched what an earlier one left
                assert_confirmed(store, each)
    assert sum(len(each.seconds) for each in people) > 2 * KILLS
