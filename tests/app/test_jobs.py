"""Jobs in processes of their own: watched, cancelled, killed, and what is left of them."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crfviz.annotations.teaching.jobs import Jobs, Status
from crfviz.annotations.teaching.teach import Lesson, start_teaching, teach
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.registry import list_taggers
from crfviz.text.sentences import Sentence
from tests.support import beside_work as work
from tests.support.beside_work import DEADLINE, until
from tests.support.forked_server import ForkedProgram
from tests.support.tiny_tagger import save_tiny

SENTENCES = [
    Sentence(("He", "runs"), ("NOUN", "VERB")),
    Sentence(("Run", "!"), ("VERB", "X")),
]
LONG = {"epochs": 1000, "held_out": 0.0}  # seconds, so that there is time to end it


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("CRFVIZ_USER_MODELS", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def tiny(tmp_path):
    return str(save_tiny(tmp_path / "tiny"))


def assert_nothing_left(own):
    assert not own.exists() or not list(own.iterdir())


def test_job_result_equals_direct_teaching(tiny):
    job = start_teaching(Jobs(), Lesson(tiny, name="beside"), SENTENCES)
    status = job.wait(DEADLINE)
    assert (status.state, status.progress) == ("done", 1.0)
    found = status.result
    assert found.name == "beside"
    assert found.name in list_taggers()
    here = teach(Lesson(tiny, name="here"), SENTENCES, lambda *_: None)
    assert found.gains == here.gains


@pytest.mark.usefixtures("forked_workers")
def test_progress_is_shared_and_a_cancelled_job_leaves_no_files(own, tiny):
    jobs = Jobs()
    job = start_teaching(jobs, Lesson(tiny, **LONG), SENTENCES)
    seen = {"one": [], "other": []}

    def watch(name):
        while not job.status.over and len(set(seen[name])) < 4:
            seen[name].append(job.status.progress)
            time.sleep(0.001)

    watchers = [threading.Thread(target=watch, args=(name,)) for name in seen]
    for watcher in watchers:
        watcher.start()
    for watcher in watchers:
        watcher.join(DEADLINE)
    job.cancel()
    status = job.wait(DEADLINE)
    assert jobs.all == [job]
    for shares in seen.values():
        assert shares == sorted(shares)
        assert len(set(shares)) == 4
    assert (status.state, status.message) == ("cancelled", "cancelled; nothing was saved")
    assert_nothing_left(own)
    job.cancel()  # once more does nothing
    assert job.status == status


@pytest.mark.usefixtures("forked_workers")
def test_job_can_be_cancelled_before_it_starts(own, tiny):
    job = start_teaching(Jobs(), Lesson(tiny, **LONG), SENTENCES)
    job.cancel()
    assert job.wait(DEADLINE).state == "cancelled"
    assert_nothing_left(own)


@pytest.mark.usefixtures("forked_workers")
def test_killed_job_fails_with_a_message(own, tiny):
    job = start_teaching(Jobs(), Lesson(tiny, **LONG), SENTENCES)
    until(lambda: job.status.progress > 0)
    os.kill(job._worker.pid, signal.SIGKILL)
    status = job.wait(DEADLINE)
    assert status.state == "failed"
    assert status.message.startswith("The work was ended by signal 9 and nothing was saved")
    assert_nothing_left(own)


@pytest.mark.usefixtures("forked_workers")
def test_error_of_the_command_is_the_message_of_its_job(tiny):
    status = start_teaching(Jobs(), Lesson(tiny), [Sentence(("so",), ("ADV",))]).wait(DEADLINE)
    said = "sentence 1 to learn from has the tag 'ADV'; the model has NOUN, VERB, X"
    assert (status.state, status.message) == ("failed", said)
    status = Jobs().start("broken", work.broken).wait(DEADLINE)
    assert (status.state, status.message) == ("failed", work.BROKEN)


@pytest.mark.usefixtures("forked_workers")
def test_jobs_run_one_at_a_time_in_order(tiny):
    jobs = Jobs()
    first = start_teaching(jobs, Lesson(tiny, **LONG), SENTENCES, visitor="a")
    second = start_teaching(jobs, Lesson(tiny), SENTENCES, visitor="b")
    third = start_teaching(jobs, Lesson(tiny), SENTENCES, visitor="c")
    until(lambda: first.status.state == "running")
    assert [job.status.state for job in (first, second, third)] == ["running", "waiting", "waiting"]
    assert [jobs.ahead(job) for job in (first, second, third)] == [0, 1, 2]
    third.cancel()
    assert third.wait(DEADLINE) == Status("cancelled", message="cancelled; nothing was saved")
    first.cancel()
    first.wait(DEADLINE)
    assert second.wait(DEADLINE).state == "done"
    assert jobs.all == [third, second, first]
    assert [jobs.ahead(job) for job in jobs.all] == [0, 0, 0]


@pytest.mark.usefixtures("forked_workers")
def test_second_job_of_a_visitor_is_rejected(tiny):
    jobs = Jobs()
    first = start_teaching(jobs, Lesson(tiny, **LONG), SENTENCES, visitor="a")
    waits = start_teaching(jobs, Lesson(tiny), SENTENCES, visitor="b")
    for visitor in "ab":
        with pytest.raises(CrfvizError, match="your “Teach tiny” is not over; wait until"):
            start_teaching(jobs, Lesson(tiny), SENTENCES, visitor=visitor)
    waits.cancel()
    again = start_teaching(jobs, Lesson(tiny), SENTENCES, visitor="b")
    until(lambda: first.status.state == "running")
    assert jobs.shown_to("a", "") is first
    assert jobs.shown_to("b", "another document") is again
    assert jobs.shown_to("somebody", "") is first
    again.cancel()
    first.cancel()
    first.wait(DEADLINE)
    assert jobs.shown_to("a", "another document") is None
    assert jobs.shown_to("a", "") is first


def test_sentences_that_cannot_be_encoded_are_rejected_at_once(tiny):
    jobs = Jobs()
    with pytest.raises(FormatError, match="is no UTF-8 text"):
        start_teaching(jobs, Lesson(tiny), [Sentence(("\ud800",), ("X",))])
    assert not jobs.all


@pytest.mark.usefixtures("forked_workers")
def test_job_accepts_more_sentences_than_a_pipe_buffer(tiny):
    job = start_teaching(
        Jobs(), Lesson(tiny, "crf", epochs=1), SENTENCES * 1000
    )  # more than a pipe holds
    status = job.wait(DEADLINE)
    assert status.state == "done"
    assert status.result.num_sentences == 2000


SERVER = """
import sys, time
from tests.app.test_jobs import LONG, SENTENCES, Jobs, Lesson, start_teaching
job = start_teaching(Jobs(), Lesson(sys.argv[1], **LONG), SENTENCES)
while job.status.progress == 0:
    time.sleep(0.01)
print(job._worker.pid, flush=True)
time.sleep(600)
"""


def test_job_ends_when_the_server_is_killed(own, tiny):
    command = [sys.executable, "-c", SERVER, tiny]
    with ForkedProgram(command, stdout=subprocess.PIPE, text=True) as server:
        work = Path("/proc", server.stdout.readline().strip())
        assert work.exists()
        server.kill()
    until(lambda: not work.exists() or ") Z " in work.joinpath("stat").read_text())
    assert_nothing_left(own)
