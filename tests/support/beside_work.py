"""Jobs that tests run in a worker process beside the server, and the timeout for them."""

import os
import signal
import threading
import time
import weakref

from crfviz.exceptions import UnknownTagError

DEADLINE = 300.0  # seconds; far more than any work of a test takes, on a busy machine too
RAN = []


def until(condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def doubled(number, report):
    report(1, 2)
    report(2, 2)
    return 2 * number


def remembered(name, report):
    report(1, 1)
    RAN.append(name)
    return list(RAN)


def refused(report):
    report(1, 1)
    raise UnknownTagError("no tag X")


def broken(report):
    report(1, 1)
    raise ValueError("something typed")


def endless(report):
    report(1, 3)
    threading.Event().wait()


def dying_run(_model, _sentences, _file, report, rule):  # noqa: ARG001 - as a work is called
    dying(report)


def dying(report):
    report(1, 3)
    os._exit(9)


BROKEN = "This run failed (ValueError). The log of the server has the trace."


def stopped_in_a_callback(report):
    """Send SIGTERM to this process inside a weakref callback, where Python ignores exceptions."""
    thing = threading.Event()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    del thing
    assert reference() is None
    report(0.5, "goes on")
    return "went on"
