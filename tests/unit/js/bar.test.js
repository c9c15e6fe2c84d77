// The keys on the wall of a lecture: what is lost is sent once more, no cue is skipped.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bar } from "../../../crfviz/ui/web/bar.js";
import { behind } from "../../../crfviz/ui/web/there.js";
import { setGlobals } from "./support/browser.js";
import { Clock } from "./support/clock.js";

const PATIENCE = 3000; // milliseconds
const GLANCE = 100;
const LEAVING = "crfviz-leaving"; // asks the picture for its newest step
const NEXT = [LEAVING, "turn 2,next"];

// A wall that has shown the first of three cues for longer than a glance.
function open(test) {
  const clock = new Clock(test);
  const [messages, listeners] = [[], {}];
  const element = () => ({ dataset: {}, classList: { toggle() {} }, append() {}, setAttribute() {} });
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
  setGlobals(test, { document, addEventListener, BroadcastChannel, performance: { now: () => clock.now } });

  const root = element();
  const wall = bar(root);
  behind().receive({ there: null }); // of the test before
  const press = (key, then = listeners.keydown) => {
    let stopped = false;
    const event = { key, timeStamp: clock.now, composedPath: () => [root], preventDefault() {} };
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
    leave: (way) => press("PageDown", () => listeners["crfviz-turns"]({ detail: way, preventDefault() {} })),
    say: (cue) => wall.receive({ cue, cues: 3 }, (...message) => messages.push(message.join(" "))),
    show: (cue) => behind().receive({ there: cue }),
    sent: () => messages.splice(0),
  };
  lecture.say(1);
  lecture.show(1);
  clock.pass(GLANCE);
  return lecture;
}

test("a cue that does not come is asked for once more", (t) => {
  const { press, clock, sent } = open(t);
  press("PageDown");
  assert.deepEqual(sent(), NEXT);
  clock.pass(PATIENCE - 1);
  assert.deepEqual(sent(), []);
  clock.pass(1);
  assert.deepEqual(sent(), ["turn 2,next"]);
  clock.pass(10 * PATIENCE);
  assert.deepEqual(sent(), []);
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

test("a picture is left for the cue before at its end", (t) => {
  const { say, show, leave, clock, sent } = open(t);
  say(2);
  show(2);
  clock.pass(GLANCE);
  leave("previous");
  assert.deepEqual(sent(), [LEAVING, "turn 1,previous"]);
});
