"""The way back over a page that a key turned, in JavaScript: one place, in whatever order."""

import pytest

from tests.support import node
from tests.support.paths import ROOT

MODULE = ROOT / "crfviz/ui/shell/web/past.js"
BODY = """
  const past = [told.at], listening = {};
  const at = () => new URL(past.at(-1), "http://x");
  globalThis.location = {
    get href() { return at().href; },
    get pathname() { return at().pathname; },
  };
  globalThis.history = {
    pushState: (state, title, url) => void past.push(url),
    replaceState: (state, title, url) => void past.splice(-1, 1, url),
  };
  globalThis.addEventListener = (name, act) => { listening[name] = act; };
  globalThis.document = {
    addEventListener,
    dispatchEvent: ({ type }) => listening[type](),
  };
  watchPast();
  const steps = {
    turn: turning,
    press: (key) => listening.keydown({ key }),
    push: (url) => history.pushState({}, "", url),
    replace: (url) => history.replaceState({}, "", url),
  };
  for (const [name, of] of told.steps) steps[name](of);
  return past.map((url) => url.replace("http://x", ""));
"""
LEFT, NEXT = "/emissions?model=a&step=3", "/?model=a"


def past(tmp_path, *steps):
    """The addresses that lie behind, and that of now."""
    modules = {MODULE: "turning, watchPast"}
    return node.run(tmp_path, modules, BODY, {"at": LEFT, "steps": steps})


@pytest.mark.parametrize(
    "written",
    [
        [("replace", "/emissions"), ("push", "/emissions?model=a&step=9"), ("push", NEXT)],
        [("replace", "/emissions"), ("push", "/"), ("push", NEXT)],
        [("push", NEXT)],
    ],
)
def test_a_turned_page_is_one_place_to_come_back_to(tmp_path, written):
    assert past(tmp_path, ("turn", None), *written) == [LEFT, NEXT]
    steps = [("turn", None), *written, ("push", f"{NEXT}&step=1")]
    assert past(tmp_path, *steps) == [LEFT, NEXT, f"{NEXT}&step=1"]


def test_what_nobody_turned_is_left_as_it_is(tmp_path):
    steps = [("push", "/emissions?model=a&step=4"), ("push", "/"), ("push", NEXT)]
    assert past(tmp_path, *steps) == [LEFT, "/emissions?model=a&step=4", "/", NEXT]
    assert past(tmp_path, ("turn", None), ("press", "x"), *steps)[1:] == [
        "/emissions?model=a&step=4",
        "/",
        NEXT,
    ]
