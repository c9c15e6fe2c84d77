"""The keys on the wall, without a browser: what Streamlit lost is told once more."""

from pathlib import Path

from crfviz.ui.lectures import player
from tests import node

WEB = Path(player.__file__).parents[1] / "web"
PATIENCE = 3000  # milliseconds
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
  globalThis.addEventListener = () => {};
  globalThis.BroadcastChannel = class { postMessage() {} };

  const wall = bar(root);
  const at = (cue) => wall.receive({ cue, cues: 3 }, (...what) => sent.push(what.join(" ")));
  const press = (key) => keys.keydown({ key, composedPath: () => [root], preventDefault() {} });
  const does = { at, press, pass };
  return told.map(([name, value]) => does[name](value) ?? sent.splice(0));
"""


def sent(folder, *done):
    """What Python was told, after each of the things that were done."""
    return node.run(folder, {WEB / "bar.js": "bar"}, BAR, done)


def test_a_cue_that_does_not_come_is_asked_for_once_more(tmp_path):
    asked = ["crfviz-leaving", "go 2"]
    assert sent(
        tmp_path,
        ("at", 1),
        ("press", "PageDown"),
        ("pass", PATIENCE - 1),
        ("pass", 1),
        ("pass", 10 * PATIENCE),
    ) == [[], asked, [], ["go 2"], []]


def test_a_cue_that_came_is_not_asked_for_again(tmp_path):
    assert sent(
        tmp_path,
        ("at", 1),
        ("press", "PageDown"),
        ("at", 2),
        ("pass", 10 * PATIENCE),
        ("press", "Escape"),
    ) == [[], ["crfviz-leaving", "go 2"], [], [], ["crfviz-leaving", "go 0"]]
