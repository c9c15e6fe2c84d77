// Which switch beside the sentence was used: by a key, by a click, or passed by.

import assert from "node:assert/strict";
import { test } from "node:test";
import { watchSwitches } from "../../../crfviz/views/stage/web/labelling/switches.js";
import { eventTarget, setGlobals } from "./support/browser.js";

const TOGGLE = { matches: () => true };
const LIST = { matches: () => false };
const CLICK = [
  ["pointerdown", TOGGLE],
  ["focusin", TOGGLE], // all that React Aria's switch lets be heard
];
const TAB = [
  ["keydown", LIST],
  ["focusin", TOGGLE],
];
const SPACE = [
  ["keydown", TOGGLE],
  ["change", TOGGLE],
];

function watch(test) {
  const document = eventTarget();
  setGlobals(test, { document });
  const switches = watchSwitches();
  const hear = (events) => {
    for (const [name, target] of events) document.listeners[name]({ target });
  };
  return { switches, hear, listeners: document.listeners };
}

for (const [name, events, used] of [
  ["a click uses a switch", CLICK, true],
  ["a key that changes it does", [...TAB, ...SPACE], true],
  ["a focus that no pointer gave passes it by", [["focusin", TOGGLE]], false],
  ["the tabulator passes it by", [["pointerdown", LIST], ...TAB], false],
]) {
  test(name, (t) => {
    const { switches, hear } = watch(t);
    hear(events);
    assert.deepEqual([switches.wasUsed(TOGGLE), switches.wasUsed(LIST)], [used, false]);
  });
}

test("a list that is opened is not used before something is chosen", (t) => {
  const { switches, hear } = watch(t);
  hear([
    ["pointerdown", LIST],
    ["focusin", LIST],
  ]);
  assert.equal(switches.wasUsed(LIST), false);
  hear([["change", LIST]]);
  assert.equal(switches.wasUsed(LIST), true);
});

test("the switch used last is forgotten on request, and none is heard after the end", (t) => {
  const { switches, hear, listeners } = watch(t);
  hear(CLICK);
  switches.forget();
  assert.equal(switches.wasUsed(TOGGLE), false);
  switches.stop();
  assert.deepEqual(listeners, {});
});
