"""The keys on the wall, without a browser: what is lost is told once more, no cue is skipped."""

from pathlib import Path

import pytest

from crfviz.ui.lectures import player
from tests.support import node

WEB = Path(player.__file__).parents[1] / "web"
PATIENCE, GLANCE = 3000, 100  # milliseconds
BAR = """
  const [sent, timers, keys] = [[], new Map(), {}];
  let [now, count] = [0, 0];
  globalThis.setTimeout = (act, wait = 0) => timers.set(++count, { act, at: now + wait }) && count;
  globalThis.clearTimeout = (timer) => timers.delete(timer);
  const pass = (milliseconds) => {
    now += milliseconds;
    for (const [timer, { act, at }] of timers) if (at <= now && timers.delete(timer)) act();
  };
  const made = () => ({ dataset: {}, classList: { toggle() {} }, append() {}, setAttribute() {} });
  const [root, listen] = [made(), (name, act) => { keys[name] = act; }];
  globalThis.document = { createElement: made, addEventListener: listen };
  document.dispatchEvent = ({ type }) => sent.push(type);
  globalThis.addEventListener = (name, act) => { keys.first = act; };
  globalThis.performance = { now: () => now };
  globalThis.BroadcastChannel = class { postMessage() {} };

  const wall = bar(root);
  const says = (cue) => wall.receive({ cue, cues: 3 }, (...what) => sent.push(what.join(" ")));
  const shows = (cue) => behind().receive({ there: cue });
  const at = (cue) => { says(cue); shows(cue); };
  const press = (key, then = keys.keydown) => {
    const event = { key, timeStamp: now, composedPath: () => [root], preventDefault() {} };
    let stopped = false;
    keys.first({ ...event, stopImmediatePropagation: () => { stopped = true; } });
    if (!stopped) then(event);
  };
  const turns = (detail) => keys["crfviz-turns"]({ detail, preventDefault() {} });
  const leaves = (way) => press("PageDown", () => turns(way)); // the picture has no more steps
  at(1);
  pass(told.shift());
  const does = { says, shows, at, press, leaves, pass };
  return told.map(([name, value]) => does[name](value) ?? sent.splice(0));
"""


def sent(folder, *done):
    """What Python was told, after each of the things that were done at the first of three cues."""
    modules = {WEB / "bar.js": "bar", WEB / "there.js": "behind"}
    return node.run(folder, modules, BAR, [GLANCE, *done])


ASKED = ["crfviz-leaving", "turn 2,next"]


def test_a_cue_that_does_not_come_is_asked_for_once_more(tmp_path):
    assert sent(
        tmp_path,
        ("press", "PageDown"),
        ("pass", PATIENCE - 1),
        ("pass", 1),
        ("pass", 10 * PATIENCE),
    ) == [ASKED, [], ["turn 2,next"], []]


def test_a_cue_that_came_is_not_asked_for_again(tmp_path):
    assert sent(
        tmp_path, ("press", "PageDown"), ("at", 2), ("pass", 10 * PATIENCE), ("press", "Escape")
    ) == [ASKED, [], [], ["crfviz-leaving", "go 0"]]


@pytest.mark.parametrize("key", [("press", "PageDown"), ("leaves", "next")])
def test_a_key_that_comes_twice_skips_no_cue(tmp_path, key):
    """The second asks for nothing; what is said is there before its picture."""
    assert sent(
        tmp_path,
        key,
        key,
        ("says", 2),
        key,
        ("pass", GLANCE),
        key,
        ("shows", 2),
        ("pass", GLANCE - 1),
        key,
        ("pass", 1),
        key,
    ) == [ASKED, [], [], [], [], [], [], [], [], [], ["crfviz-leaving", "turn 3,next"]]


def test_a_picture_is_left_for_the_cue_before_at_its_end(tmp_path):
    assert sent(tmp_path, ("at", 2), ("pass", GLANCE), ("leaves", "previous")) == [
        *([], []),
        ["crfviz-leaving", "turn 1,previous"],
    ]
