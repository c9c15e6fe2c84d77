"""How often the browser says a thing: once, and once more if not answered."""

from base64 import b64encode

import pytest

from tests.unit.views.test_web import WEB

AN_HOUR = 3_600_000  # milliseconds
BEGIN = """async (code) => {
  const { Outbox } = await import(`data:text/javascript;base64,${code}`);
  globalThis.told = [];
  globalThis.outbox = new Outbox((events) => told.push(events.map(({ seq }) => seq)));
}"""


@pytest.fixture
def outbox(fresh):
    """Calls a method of an outbox, waits so many milliseconds, and returns all that it has told."""
    page = fresh().new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1000)  # from now on time passes by `wait` alone
    page.evaluate(BEGIN, b64encode((WEB / "outbox.js").read_bytes()).decode())

    def call(method, *arguments, wait=0):
        page.evaluate("([method, given]) => outbox[method](...given)", [method, arguments])
        page.clock.fast_forward(wait) if wait < AN_HOUR else page.clock.run_for(wait)
        return page.evaluate("told")

    return call


def test_what_is_not_answered_is_told_once_more_and_no_more(outbox):
    assert outbox("post", {}) == [[1]]
    assert outbox("acknowledge", 0, wait=AN_HOUR) == [[1], [1]]
    assert outbox("post", {}, wait=AN_HOUR) == [[1], [1], [1, 2], [1, 2]]


def test_what_is_answered_is_not_told_again(outbox):
    outbox("post", {})
    assert outbox("acknowledge", 1, wait=AN_HOUR) == [[1]]


def test_an_answer_that_does_not_know_of_it_counts_as_silence(outbox):
    outbox("post", {})
    assert outbox("repeat") == [[1], [1]]
    assert outbox("repeat", wait=AN_HOUR) == [[1], [1]]


def test_what_python_cannot_take_up_yet_is_asked_again_after_ever_longer_waits(outbox):
    outbox("post", {})
    assert outbox("later", wait=999) == [[1]]
    assert outbox("acknowledge", 0, wait=1) == [[1], [1]]
    assert outbox("later", wait=1999) == [[1], [1]]
    assert outbox("acknowledge", 0, wait=1) == [[1], [1], [1]]
    outbox("later")
    assert outbox("acknowledge", 1, wait=AN_HOUR) == [[1], [1], [1]]


def test_a_closed_outbox_tells_nothing(outbox):
    outbox("post", {})
    assert outbox("close", wait=AN_HOUR) == [[1]]
