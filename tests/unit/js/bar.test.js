// The keys on the wall of a lecture: what is lost is sent once more, no cue is skipped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bar } from "../../../crfviz/ui/web/bar.js";
import { behind } from "../../../crfviz/ui/web/window.js";
import { setGlobals } from "./support/browser.js";
import { Clock } from "./support/clock.js";

const PATIENCE = 3000; // milliseconds
const GLANCE = 100;
const LEAVING = "crfviz-leaving"; // asks the picture for its newest step
const NEXT = [LEAVING, "turn 2,next"];

// A wall that has shown a cue for longer than a glance.
function open(test, first = 1, cues = 3) {
  const clock = new Clock(test);
  const [messages, listeners] = [[], {}];
  class Node {
    dataset = {};
    classList = { toggle() {} };
    append() {}
    setAttribute() {}
  }
  const element = () => new Node();
  const document = {
    createElement: element,
    addEventListener: (name, act) => {
      listeners[name] = act;
    },
    dispatchEvent: ({ type }) => messages.push(type),
  };
  const addEventListener = (_name, act) => {
    listeners.first = act;
  };
  class BroadcastChannel {
    postMessage() {}
  }
  setGlobals(test, { document, addEventListener, BroadcastChannel, Node, performance: { now: () => clock.now } });

  const root = element();
  const wall = bar(root);
  behind().receive({ there: null }); // of the test before
  const press = (key, { then = listeners.keydown, ...fields } = {}) => {
    let stopped = false;
    const event = { key, timeStamp: clock.now, composedPath: () => [root], preventDefault() {}, ...fields };
    listeners.first({
      ...event,
      stopImmediatePropagation: () => {
        stopped = true;
      },
    });
    if (!stopped) then(event);
  };
  const lecture = {
    clock,
    press,
    // The key that leads beyond the steps of the picture.
    leave: (way) => {
      const then = () => listeners["crfviz-turns"]({ detail: way, preventDefault() {} });
      press("PageDown", { then });
    },
    say: (cue) => wall.receive({ cue, cues }, (...message) => messages.push(message.join(" "))),
    show: (cue) => behind().receive({ there: cue }),
    sent: () => messages.splice(0),
  };
  lecture.say(first);
  lecture.show(first);
  clock.pass(GLANCE);
  return lecture;
}

test("a cue that does not come is asked for once more", (t) => {
  const { press, say, clock, sent } = open(t);
  press("PageDown");
  assert.deepEqual(sent(), NEXT);
  clock.pass(PATIENCE - 1);
  say(1); // the same cue drawn again
  press("PageDown");
  assert.deepEqual(sent(), []);
  clock.pass(1);
  assert.deepEqual(sent(), ["turn 2,next"]);
  clock.pass(10 * PATIENCE);
  assert.deepEqual(sent(), []);
  press("PageDown");
  assert.deepEqual(sent(), NEXT);
});

test("a cue that came is not asked for again", (t) => {
  const { press, say, show, clock, sent } = open(t);
  press("PageDown");
  say(2);
  show(2);
  assert.deepEqual(sent(), NEXT);
  clock.pass(10 * PATIENCE);
  assert.deepEqual(sent(), []);
  press("Escape");
  assert.deepEqual(sent(), [LEAVING, "go 0"]);
});

for (const [name, turn] of [
  ["a key of the wall", ({ press }) => press("PageDown")],
  ["a key that the picture leaves", ({ leave }) => leave("next")],
]) {
  test(`${name} that comes twice skips no cue: the first one is on its way, or not seen yet`, (t) => {
    const lecture = open(t);
    turn(lecture);
    assert.deepEqual(lecture.sent(), NEXT);
    turn(lecture);
    lecture.say(2); // it is said before its picture is there
    turn(lecture);
    lecture.clock.pass(GLANCE);
    turn(lecture);
    lecture.show(2);
    lecture.clock.pass(GLANCE - 1);
    turn(lecture);
    assert.deepEqual(lecture.sent(), []);
    lecture.clock.pass(1);
    turn(lecture);
    assert.deepEqual(lecture.sent(), [LEAVING, "turn 3,next"]);
  });
}

test("keys of a clicker and arrows turn by one cue, at either end by none", (t) => {
  for (const [key, first, expected] of [
    ["PageDown", 5, "turn 6,next"],
    ["ArrowRight", 5, "turn 6,next"],
    [" ", 5, "turn 6,next"],
    ["PageUp", 5, "turn 4,previous"],
    ["ArrowLeft", 5, "turn 4,previous"],
    ["PageDown", 9, undefined],
    ["PageUp", 1, undefined],
    ["x", 5, undefined],
  ]) {
    const { press, sent } = open(t, first, 9);
    press(key);
    assert.equal(sent()[1], expected, `${key} at ${first}`);
  }
});

test("keys with a modifier, repeated, or used by others turn nothing", (t) => {
  const { press, sent } = open(t);
  for (const field of ["altKey", "ctrlKey", "metaKey", "repeat", "defaultPrevented"])
    press("PageDown", { [field]: true });
  assert.deepEqual(sent(), []);
});

test("a picture is left for the cue before at its start", (t) => {
  const { leave, sent } = open(t, 5, 9);
  leave("previous");
  assert.deepEqual(sent(), [LEAVING, "turn 4,previous"]);
});

test("of two messages only the later is sent once more", (t) => {
  const { press, clock, sent } = open(t);
  press("PageDown");
  clock.pass(1000);
  press("Escape");
  sent();
  clock.pass(10 * PATIENCE);
  assert.deepEqual(sent(), ["go 0"]);
});
