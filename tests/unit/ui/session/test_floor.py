"""One script at a time: who speaks next, who is passed by, and that Streamlit asks for it."""

import gc
import sys
from threading import Thread
from unittest.mock import MagicMock

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, StopException, script_runner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from crfviz.corpus.run.results import EVERY_DECODER
from crfviz.corpus.run.tagging import run
from crfviz.text.sentences import Sentence
from crfviz.ui.annotate import reading
from crfviz.ui.errors import files
from crfviz.ui.errors.error_analysis import links_of
from crfviz.ui.session import scheduling as scripts
from crfviz.ui.session import scheduling as turns
from crfviz.ui.session.scheduling import MAX_WAIT, SCRIPT_LOCK, SKIP_TIMEOUT, TIME_SLICE, FairLock
from tests.support.fake_tagger import FakeTagger
from tests.unit.ui.session.test_turns import DEADLINE, Event, end

SCRIPT = """
import time

import counted
import streamlit as st

counted.inside += 1
counted.most = max(counted.most, counted.inside)
time.sleep(0.01)
st.write("drawn")
counted.inside -= 1
counted.runs += 1
"""
"""It is long enough for others to begin, if nothing holds them."""


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self):
        return self.now


class Script(Thread):
    """Waits for the floor, notes that it has it, and goes on when it is told."""

    def __init__(self, floor, spoken):
        super().__init__(daemon=True)
        self.floor, self.spoken = floor, spoken
        self.speaks, self.draw, self.drawn, self.go = Event(), Event(), Event(), Event()

    def run(self):
        self.floor.acquire()
        self.spoken.append(self.name)
        self.speaks.set()
        while not self.go.wait(0.001):
            if self.draw.is_set():
                self.draw.clear()
                self.floor.let_others_first()
                self.spoken.append(self.name)
                self.drawn.set()
        self.floor.release()


def waiting(floor):
    return floor.waiting()


def until(condition):
    for _ in range(int(DEADLINE / 0.001)):
        if condition():
            return
        Event().wait(0.001)
    pytest.fail("nothing happened")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def floor(clock):
    return FairLock(clock, clock)


@pytest.fixture
def script(floor):
    """Starts a script that is in the line, or speaks, when this returns."""
    spoken = []

    def start(name):
        each = Script(floor, spoken)
        each.name = name
        before = waiting(floor)
        each.start()
        until(lambda: each.speaks.is_set() or waiting(floor) > before)
        return each

    start.spoken = spoken
    return start


def test_scripts_run_one_at_a_time_in_order_of_arrival(script):
    each = [script(name) for name in "abcd"]
    for number, one in enumerate(each, 1):
        assert one.speaks.wait(DEADLINE)
        assert script.spoken == list("abcd"[:number])
        end(one)


def test_script_over_its_time_slice_yields_to_new_ones(script, clock):
    first, second, third = script("a"), script("b"), script("c")
    first.draw.set()
    assert first.drawn.wait(DEADLINE)  # it has not had its time
    assert script.spoken == ["a", "a"]
    first.drawn.clear()
    clock.now += TIME_SLICE
    first.draw.set()
    assert second.speaks.wait(DEADLINE)
    end(second)
    assert third.speaks.wait(DEADLINE)
    assert not first.drawn.is_set()
    end(third)
    assert first.drawn.wait(DEADLINE)
    end(first)


def test_script_that_yielded_continues_before_newer_ones(script, clock):
    first, second, third = script("a"), script("b"), script("c")
    clock.now += TIME_SLICE
    first.draw.set()
    assert second.speaks.wait(DEADLINE)
    clock.now += MAX_WAIT
    second.go.set()
    assert first.drawn.wait(DEADLINE)
    assert not third.speaks.is_set()
    end(first, second, third)


def test_script_without_output_is_skipped_and_waits_at_its_next_draw(script, clock, floor):
    silent = script("silent")
    clock.now += SKIP_TIMEOUT
    second = script("b")
    assert second.speaks.wait(DEADLINE)
    silent.draw.set()
    until(lambda: waiting(floor) == 1)
    assert not silent.drawn.is_set()
    end(second)
    assert silent.drawn.wait(DEADLINE)
    end(silent)


def test_skipped_short_script_runs_to_its_end(script, clock, floor):
    floor._work = Clock()
    slow = script("slow")
    clock.now += SKIP_TIMEOUT
    second = script("b")
    assert second.speaks.wait(DEADLINE)
    slow.draw.set()
    assert slow.drawn.wait(DEADLINE)
    end(slow, second)


def test_released_lock_lets_another_script_run(floor):
    inside, go, back = Event(), Event(), Event()

    def waits():
        floor.acquire()
        with floor.released():
            inside.set()
            assert go.wait(DEADLINE)
        back.set()
        floor.release()

    thread = Thread(target=waits, daemon=True)
    thread.start()
    assert inside.wait(DEADLINE)
    floor.acquire()  # at once: nothing speaks
    go.set()
    until(lambda: waiting(floor) == 1)
    assert not back.is_set()
    assert floor.release()
    assert back.wait(DEADLINE)


def test_thread_without_the_lock_needs_no_release(floor):
    floor.let_others_first()
    with floor.released():
        assert not floor.release()


def test_reading_sentences_yields_after_each_sentence(monkeypatch):
    asked = []
    monkeypatch.setattr(SCRIPT_LOCK, "let_others_first", lambda: asked.append(1), raising=False)
    reading.File("three.txt", b"One .\nTwo .\nThree .\n", "").read()
    assert len(asked) == 3


def test_reading_tagged_sentences_yields_after_each_sentence(monkeypatch):
    asked = []
    monkeypatch.setattr(SCRIPT_LOCK, "let_others_first", lambda: asked.append(1), raising=False)
    files.read_upload("three.conll", b"One\tA\n\nTwo\tA\n\nThree\tB\n")
    assert len(asked) == 6  # as converted, and as the file spells them


def test_evaluation_yields_within_a_batch():
    asked = []
    tagger = FakeTagger(("A", "B"), {"One": {"A": 1.0}}, {("A", "A"): 1.0})
    results = run(tagger, [Sentence(("One",), ("B",))] * 3, pause=lambda: asked.append(1))
    assert len(asked) > len(EVERY_DECODER) + 3
    asked.clear()
    links_of(results, lambda: asked.append(1))
    assert len(asked) == 6  # errors, and suspects


def test_long_work_stops_when_its_visitor_has_left(monkeypatch):
    turns.pause()
    monkeypatch.setattr(turns, "visitor_has_left", lambda: True)
    with pytest.raises(StopException):
        turns.pause()


@pytest.fixture
def streamlit_asks(monkeypatch):
    """Streamlit with scripts that take turns, on a floor where nobody is ever passed by."""
    monkeypatch.setattr(script_runner, "ScriptRequests", script_runner.ScriptRequests)
    monkeypatch.setattr(scripts, "SCRIPT_LOCK", FairLock(Clock(), Clock()))
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    monkeypatch.setattr(Runtime, "_instance", MagicMock(spec=Runtime))
    Runtime._instance.media_file_mgr = MagicMock()
    Runtime._instance.dataframe_source_mgr = MagicMock()


@pytest.fixture
def runners(streamlit_asks, tmp_path, monkeypatch):  # noqa: ARG001 - scripts take turns
    """Starts sessions of a script that counts how many of it run."""
    (tmp_path / "counted.py").write_text("inside = most = runs = 0\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "counted", raising=False)
    pages = PagesManager(str(script), ScriptCache(), setup_watcher=False)

    def start():
        state = SafeSessionState(SessionState(), lambda: None)
        runner = LocalScriptRunner(str(script), state, pages)
        runner.start()
        return runner

    return start


def test_streamlit_scripts_run_one_at_a_time(runners):
    assert scripts.serialize_scripts()
    for runner in [runners() for _ in range(5)]:
        runner.join()
    counted = sys.modules["counted"]
    assert (counted.runs, counted.inside, counted.most) == (5, 0, 1)


@pytest.fixture
def waits(runners):
    """A session whose script waits for the floor, which the test has."""
    scripts.serialize_scripts()
    scripts.SCRIPT_LOCK.acquire()
    runner = runners()
    until(lambda: waiting(scripts.SCRIPT_LOCK) == 1)
    return runner


def test_reruns_requested_by_a_waiting_script_are_merged(waits):
    for _ in range(3):
        assert waits.request_rerun(RerunData())
    scripts.SCRIPT_LOCK.release()
    waits.join()
    assert sys.modules["counted"].runs == 1


def test_stopped_waiting_script_releases_the_lock(waits, runners):
    waits.request_stop()
    scripts.SCRIPT_LOCK.release()
    waits.join()
    runners().join()
    assert sys.modules["counted"].runs == 1


def test_script_yields_when_it_draws(runners, monkeypatch):
    asked = []
    monkeypatch.setattr(scripts.SCRIPT_LOCK, "let_others_first", lambda: asked.append(1))
    scripts.serialize_scripts()
    runners().join()
    assert asked


def test_garbage_is_collected_only_after_many_runs(runners, monkeypatch):
    collected = []
    monkeypatch.setattr(gc, "collect", lambda *_: collected.append(1))
    monkeypatch.setattr(scripts, "MIN_RUNS", 4)
    monkeypatch.setattr(scripts, "GARBAGE_COLLECTOR", scripts.GarbageCollector())
    scripts.serialize_scripts()
    for _ in range(12):
        runners().join()
    assert len(collected) == 3


def test_garbage_collection_takes_a_small_part_of_the_time(monkeypatch):
    clock = [0.0]
    runs, collected = [], []

    def collect():
        collected.append(len(runs))
        clock[0] += 2.0

    monkeypatch.setattr(gc, "collect", collect)
    garbage = scripts.GarbageCollector(lambda: clock[0])
    for each in range(2 * 12_800 + scripts.MIN_RUNS):
        runs.append(each)
        garbage.after(1 / 128)
    assert collected == [scripts.MIN_RUNS, scripts.MIN_RUNS + 12_800, scripts.MIN_RUNS + 2 * 12_800]
