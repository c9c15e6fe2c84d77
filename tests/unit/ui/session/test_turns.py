"""The line for heavy work: one job at a time, and nobody waits for all jobs of one visitor."""

from contextlib import suppress
from threading import Event, Thread

import pytest

from crfviz.ui.session import scheduling as module
from crfviz.ui.session.scheduling import FairLock, JobQueue

DEADLINE = 60.0  # seconds; far more than any of these steps takes


class LeftError(Exception):
    """What Streamlit's own exceptions are to a run that is stopped."""


class Worker(Thread):
    """Asks for a turn, notes that it has it, and holds it until it is told to go."""

    def __init__(self, turns, visitor, done):
        super().__init__(daemon=True)
        self.waits, self.works, self.go = Event(), Event(), Event()
        self.turns, self.visitor, self.done = turns, visitor, done
        self.ahead = None
        self.leaves = False

    def wait_in_line(self, ahead):
        self.ahead = ahead
        self.waits.set()
        if self.leaves:
            raise LeftError

    def run(self):
        with suppress(LeftError), self.turns.turn(self.visitor, self.wait_in_line):
            self.done.append(self.name)
            self.works.set()
            assert self.go.wait(DEADLINE)


@pytest.fixture
def line():
    """Puts a visitor at the end of the line; returns who does it, in the line or at work."""
    turns, done = JobQueue(), []

    def join(visitor):
        worker = Worker(turns, visitor, done)
        event = worker.waits if done else worker.works
        worker.start()
        assert event.wait(DEADLINE)
        return worker

    join.done = done
    return join


def end(*workers):
    for worker in workers:
        worker.go.set()
    for worker in workers:
        worker.join(DEADLINE)
        assert not worker.is_alive()


def test_jobs_run_one_at_a_time_in_order_of_arrival(line):
    workers = [line(f"visitor {number}") for number in range(4)]
    for number, worker in enumerate(workers):
        assert worker.works.wait(DEADLINE)
        assert len(line.done) == number + 1
        end(worker)
    assert line.done == [worker.name for worker in workers]
    assert [worker.ahead for worker in workers[1:2]] == [1]


def test_second_job_of_a_visitor_waits_for_the_first_of_others(line):
    first, second, third = line("greedy"), line("greedy"), line("greedy")
    other = line("other")
    end(first)
    assert other.works.wait(DEADLINE)
    assert not second.works.is_set()
    end(other, second, third)
    assert line.done[:2] == [first.name, other.name]


def test_cancelled_job_does_not_block_the_queue(line):
    first, gone, last = line("a"), line("b"), line("c")
    gone.leaves = True
    gone.join(DEADLINE)
    assert not gone.is_alive()
    end(first, last)
    assert line.done == [first.name, last.name]


def test_failed_job_releases_its_turn():
    turns = JobQueue()
    with pytest.raises(ValueError, match="broken"), turns.turn("a", pytest.fail):
        raise ValueError("broken")
    with turns.turn("b", pytest.fail):
        pass


def test_queued_job_releases_the_script_lock(monkeypatch):
    floor = FairLock(lambda: 0.0, lambda: 0.0)  # nobody is ever passed by
    monkeypatch.setattr(module, "SCRIPT_LOCK", floor)
    turns, in_line, done = JobQueue(), Event(), Event()

    def script():
        floor.acquire()
        with turns.turn("b", lambda _: in_line.set()):
            done.set()
        floor.release()

    with turns.turn("a", pytest.fail):
        thread = Thread(target=script, daemon=True)
        thread.start()
        assert in_line.wait(DEADLINE)
        floor.acquire()
        floor.release()
    assert done.wait(DEADLINE)
    thread.join(DEADLINE)
