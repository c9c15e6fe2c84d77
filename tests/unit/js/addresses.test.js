// Addresses that JavaScript writes: the step of a walk, links to the pages, and one place for a turned page. What
// Python writes in their place: tests/unit/ui/state/test_addresses_in_javascript.py.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { expectPage, queryForLinks, watchHistory, watchSteps, withStep } from "../../../crfviz/ui/shell/web/address.js";
import { openWindow } from "./support/browser.js";

describe("the step of a walk", () => {
  // `step`: a key moved the walk; `heard`: Python knows of it; `python`: it writes a query, as Streamlit does, which
  // leaves out what is the address already.
  function walk(test, address) {
    const { places, listeners } = openWindow(test, address);
    watchSteps(() => "opening");
    const tell = (detail) => listeners["crfviz-steps"]({ detail });
    return {
      places,
      listeners,
      step: (...steps) => steps.forEach(tell),
      heard: () => tell(null),
      turn: (url) => history.pushState({}, "", url),
      python: (query) => {
        if (location.search !== query) history.pushState({}, "", location.pathname + query);
      },
    };
  }

  test("keys in a row make one place, and Python finds the address written", (t) => {
    const { places, step, python, heard } = walk(t, "/viterbi?model=a&step=3");
    step(4, 5, 6);
    python("?model=a&step=6");
    heard();
    step(7);
    assert.deepEqual(places, ["/viterbi?model=a&step=3", "/viterbi?model=a&step=6", "/viterbi?model=a&step=7"]);
  });

  test("a slow answer of Python does not take back a newer step", (t) => {
    const { places, step, python } = walk(t, "/?model=a");
    step(1, 2);
    python("?model=a&step=1");
    assert.deepEqual(places, ["/?model=a", "/?model=a&step=2"]);
  });

  test("nor where its parts stand in another order", (t) => {
    const { places, step, python } = walk(t, "/?model=a&sentence=b+c");
    step(1, 2);
    python("?sentence=b%20c&model=a&step=1");
    assert.deepEqual(places, ["/?model=a&sentence=b+c", "/?model=a&sentence=b+c&step=2"]);
  });

  test("an answer with another model, for another page, or after Python heard of the steps is written", (t) => {
    const model = walk(t, "/?model=a");
    model.step(1, 2);
    model.python("?model=b&step=1");
    assert.equal(model.places.at(-1), "/?model=b&step=1");
    const page = walk(t, "/?model=a");
    page.step(1, 2);
    page.turn("/emissions?model=a");
    assert.equal(page.places.at(-1), "/emissions?model=a");
    const heard = walk(t, "/?model=a");
    heard.step(2);
    heard.heard();
    heard.python("?model=a&step=1");
    assert.equal(heard.places.at(-1), "/?model=a&step=1");
  });

  test("after the browser's Back any address is written", (t) => {
    const { places, listeners, step, python } = walk(t, "/?model=a");
    step(1, 2);
    listeners.popstate();
    python("?model=a&step=1");
    assert.equal(places.at(-1), "/?model=a&step=1");
  });

  test("the next page gets its query before Python has heard of the steps of the last", (t) => {
    const { places, step, turn, python } = walk(t, "/?model=opening");
    step(1);
    turn("/emissions");
    python("?model=opening&step=start");
    assert.equal(places.at(-1), "/emissions?model=opening&step=start");
  });

  test("drops the cell that was explained, is left out where the page opens, and is said of each cue", () => {
    for (const [search, step, expected] of [
      ["?model=a&step=3&v.chosen=1+DET&v.nodes=best", 4, "?model=a&step=4&v.nodes=best"],
      ["", 4, "?step=4"],
      ["", 0, ""],
      ["?model=a&step=3", 0, "?model=a"],
      ["?v.nodes=best", 4, "?step=4&v.nodes=best"],
      ["?lecture=greedy&cue=3&step=2&v.theme=dark", 0, "?lecture=greedy&cue=3&step=0&v.theme=dark"],
    ]) {
      assert.equal(withStep(search, step, "opening"), expected);
    }
  });
});

test("links to other pages carry the address without the parts of this page alone", () => {
  const own = ["step", "v.panel"];
  for (const [search, expected] of [
    ["", ""],
    ["?step=4", ""],
    ["?t=A.B%3A1&step=4&p=0.A", "t=A.B%3A1&p=0.A"],
    ["?v.panel=beta&v.panels=1&steps=2&k=", "v.panels=1&steps=2&k="],
  ]) {
    assert.equal(queryForLinks(search, own), expected);
  }
});

describe("a page that a key turns", () => {
  const [LEFT, NEXT] = ["/emissions?model=a&step=3", "/?model=a"];
  const push = (url) => history.pushState({}, "", url);
  const replace = (url) => history.replaceState({}, "", url);

  function open(test) {
    const window = openWindow(test, LEFT);
    watchHistory();
    return window;
  }

  for (const [name, write] of [
    [
      "its old page with another query, then the new one",
      () => [replace("/emissions"), push("/emissions?step=9"), push(NEXT)],
    ],
    ["the new path, then its query", () => [replace("/emissions"), push("/"), push(NEXT)]],
    ["the new address", () => push(NEXT)],
  ]) {
    test(`is one place to come back to where Streamlit writes ${name}`, (t) => {
      const { places } = open(t);
      expectPage();
      write();
      assert.deepEqual(places, [LEFT, NEXT]);
      push(`${NEXT}&step=1`);
      assert.deepEqual(places, [LEFT, NEXT, `${NEXT}&step=1`]);
    });
  }

  const others = ["/emissions?model=a&step=4", "/", NEXT];

  test("other addresses are left as they are", (t) => {
    const { places } = open(t);
    others.forEach(push);
    assert.deepEqual(places, [LEFT, ...others]);
  });

  test("so are those after another key, as there was no page to turn to", (t) => {
    const { places, listeners } = open(t);
    expectPage();
    listeners.keydown({ key: "x" });
    others.forEach(push);
    assert.deepEqual(places, [LEFT, ...others]);
  });
});
