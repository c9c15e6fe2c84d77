"""A process for heavy work beside the server: what it does, and what becomes of it."""

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from crfviz.corpus import worker_process
from crfviz.corpus.run.results import Results
from crfviz.corpus.shards.model_reference import model_reference
from crfviz.exceptions import CrfvizError, UnknownTagError
from crfviz.taggers.registry import SHIPPED, load_tagger
from crfviz.text.formats import read_sentences
from crfviz.ui.errors import runs
from crfviz.ui.errors.error_analysis import analyse_in_worker, analyse_sentences
from crfviz.ui.session.background import BACKGROUND, BackgroundWorker, LostError
from tests.support import beside_work as work
from tests.support.app_pages import button, open_at
from tests.support.beside_work import until
from tests.support.forked_server import ForkedProgram, ForkingSubprocess


def gone(pid):
    """Whether there is no such process, or one that only waits to be asked how it ended."""
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture(scope="module", autouse=True)
def forked():
    """Processes beside the server that are forks: each saves two seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_process, "subprocess", ForkingSubprocess)
        yield


@pytest.fixture(scope="module")
def shared():
    """One that tests leave as they found it: to start one takes seconds."""
    beside = BackgroundWorker()
    yield beside
    beside.end()


@pytest.fixture
def own():
    beside = BackgroundWorker()
    yield beside
    beside.end()


def test_worker_returns_results_reports_progress_and_is_reused(shared):
    told, paused = [], []
    made = shared.run(
        partial(work.doubled, 21), lambda *at: told.append(at), pause=lambda: paused.append(1)
    )
    assert made == 42
    assert set(told) == {(1, 2), (2, 2)}
    assert paused
    pid = shared.pid
    shared.run(partial(work.remembered, "one"), print)
    assert shared.run(partial(work.remembered, "two"), print) == ["one", "two"]
    assert shared.pid == pid


def test_exception_of_the_work_is_raised_and_the_worker_survives(shared):
    shared.run(partial(work.doubled, 1), print)
    pid = shared.pid
    with pytest.raises(UnknownTagError, match="no tag X"):
        shared.run(work.refused, print)
    with pytest.raises(CrfvizError, match="failed \\(ValueError\\)") as raised:
        shared.run(work.broken, print)
    assert "typed" not in str(raised.value)
    assert shared.run(partial(work.doubled, 2), print) == 4
    assert shared.pid == pid


def test_large_results_are_transferred_in_pieces(shared):
    paused = []
    many = [f"word {n}" for n in range(50_000)]
    shared.run(partial(work.doubled, 1), print)
    here = partial(work.doubled, many)
    assert len(shared.run(here, print, pause=lambda: paused.append(1))) == 100_000
    assert len(paused) > len(pickle.dumps(many)) // 2**17


def test_dead_worker_raises_lost_error_and_is_replaced(own):
    with pytest.raises(LostError, match="stopped with exit code 9, and its results are lost"):
        own.run(work.dying, print)

    def kill(*_):
        os.kill(own.pid, signal.SIGKILL)

    with pytest.raises(LostError, match="was ended by signal 9"):
        own.run(work.endless, kill)
    assert own.run(partial(work.doubled, 3), print) == 6


def test_exception_in_the_progress_callback_kills_the_worker(own):
    class StoppedError(Exception):
        pass

    seen = []

    def stop(*_):
        seen.append(own.pid)
        raise StoppedError

    with pytest.raises(StoppedError):
        own.run(work.endless, stop)
    until(lambda: gone(seen[0]))
    assert own.pid is None
    assert own.run(partial(work.doubled, 4), print) == 8


def test_ignored_stop_ends_the_work_at_its_next_report(own):
    with pytest.raises(LostError):
        own.run(work.stopped_in_a_callback, print)


def test_prepared_worker_exits_after_its_idle_timeout():
    beside = BackgroundWorker(idle_timeout=0.0)
    beside.prepare(partial(work.doubled, 5))
    until(lambda: beside.pid is None)
    assert beside.run(partial(work.doubled, 6), print) == 12
    until(lambda: beside.pid is None)


def test_first_preparation_runs_before_the_work(own):
    own.prepare(partial(work.remembered, "first"))
    pid = own.pid
    own.prepare(partial(work.remembered, "not again"))
    assert own.run(partial(work.remembered, "then"), print) == ["first", "then"]
    assert own.pid == pid


def test_failed_process_start_raises_lost_error(own, monkeypatch):
    def refuse(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(worker_process, "subprocess", SimpleNamespace(Popen=refuse, PIPE=None))
    own.prepare(partial(work.doubled, 1))
    with pytest.raises(LostError, match="Cannot allocate memory"):
        own.run(partial(work.doubled, 1), print)


def test_worker_exits_with_the_server():
    server = (
        "import sys\n"
        "from functools import partial\n"
        "from crfviz.ui.session.background import BACKGROUND\n"
        "from tests.support import beside_work\n"
        "def report(*_):\n"
        "    print(BACKGROUND.pid, flush=True)\n"
        "BACKGROUND.run(beside_work.endless, report)\n"
    )
    command = [sys.executable, "-c", server]
    with ForkedProgram(command, stdout=subprocess.PIPE, text=True) as running:
        pid = int(running.stdout.readline())
        running.kill()
    until(lambda: gone(pid))


@pytest.fixture(scope="module")
def excerpt():
    return read_sentences(SHIPPED / "excerpts" / "ewt-dev.conllu")


def test_background_run_equals_a_run_in_the_server(shared, excerpt):
    told = []
    tagger = load_tagger("upos-en")
    here, *rest = analyse_sentences(tagger, excerpt, "excerpt", lambda *_: None)
    asked = partial(analyse_in_worker, model_reference("upos-en"), excerpt, "excerpt")
    found, *rest_beside = shared.run(asked, lambda *at: told.append(at))
    assert timeless(rest_beside) == timeless(rest)  # record, tables, links
    there = Results(tagger=tagger, **found)
    assert told[-1] == (len(excerpt), len(excerpt))
    for name in (field.name for field in fields(Results)):
        if name not in ("tagger", "log", "seconds"):
            np.testing.assert_equal(getattr(there, name), getattr(here, name))
    assert there.log.totals == here.log.totals
    for name in ("first", "suspects", "entity_suspects", "sentences", "suspected"):
        assert getattr(there.log, name) == getattr(here.log, name)


def timeless(found):
    """The same without the times, which no two runs share."""
    if isinstance(found, dict):
        return {k: timeless(of) for k, of in found.items() if "seconds" not in k}
    return [timeless(each) for each in found] if isinstance(found, list) else found


def test_model_errors_shows_the_same_for_background_runs(app, monkeypatch):
    tables = {}
    for most in (0, runs.MAX_WORDS_HERE):
        monkeypatch.setattr(runs, "MAX_WORDS_HERE", most)
        monkeypatch.setattr(runs, "_digest", lambda *_, most=most: f"run-of-{most}")
        page = open_at(app, "pages/model-errors.py")
        assert not page.error
        tables[most] = [frame.value.to_dict() for frame in page.dataframe]
    assert tables[0]
    assert tables[0] == tables[runs.MAX_WORDS_HERE]
    BACKGROUND.end()


def test_lost_background_run_shows_an_error_and_can_be_repeated(app, monkeypatch):
    monkeypatch.setattr(runs, "MAX_WORDS_HERE", 0)
    monkeypatch.setattr(runs, "_digest", lambda *_: "run-whose-process-dies")
    monkeypatch.setattr(runs, "analyse_in_worker", work.dying_run)
    open_at(app, "pages/model-errors.py")
    assert "its results are lost" in app.info[0].value
    assert not app.dataframe
    monkeypatch.setattr(runs, "MAX_WORDS_HERE", 10**6)
    button(app, "Run").click().run()
    assert app.dataframe
