"""Which switch beside the sentence was used, in JavaScript: by a key, by a click, or passed by."""

import pytest

from tests.support import node
from tests.support.paths import ROOT

MODULE = ROOT / "crfviz/views/stage/web/labelling/switches.js"
BODY = """
  const listening = {};
  globalThis.document = { addEventListener: (name, act) => { listening[name] = act; } };
  const elements = { toggle: { matches: () => true }, list: { matches: () => false } };
  const switches = watchSwitches();
  for (const [name, of] of told) (listening[name] ?? switches[name])({ target: elements[of] });
  return Object.keys(elements).filter((name) => switches.wasUsed(elements[name]));
"""
CLICK = [
    ("pointerdown", "toggle"),
    ("focusin", "toggle"),
]  # all that React Aria's switch lets be heard
SPACE = [("keydown", "toggle"), ("change", "toggle")]
TAB = [("keydown", "list"), ("focusin", "toggle")]


@pytest.mark.parametrize(
    ("heard", "used"),
    [
        (CLICK, ["toggle"]),
        ([*TAB, *SPACE], ["toggle"]),
        ([("pointerdown", "list"), *TAB], []),
        ([("pointerdown", "list"), ("focusin", "list")], []),  # opened, nothing chosen yet
        ([*CLICK, ("forget", None)], []),
    ],
)
def test_a_switch_is_used_by_a_click_or_a_change_and_not_passed_by(tmp_path, heard, used):
    assert node.run(tmp_path, {MODULE: "watchSwitches"}, BODY, heard) == used
