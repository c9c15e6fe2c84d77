// The outbox: each event has a number, and is sent until Python acknowledges it, but never in a hurry.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Outbox } from "../../../crfviz/views/stage/web/outbox.js";
import { Clock } from "./support/clock.js";

const PATIENCE = 3000; // milliseconds
const AN_HOUR = 3_600_000;

// An outbox, the numbers in each message that it has sent since they were last asked for, and a clock.
function open(test) {
  const clock = new Clock(test);
  const messages = [];
  const outbox = new Outbox((events) => messages.push(events.map(({ seq }) => seq)));
  return { outbox, clock, sent: () => messages.splice(0) };
}

describe("sequence numbers", () => {
  test("events are numbered from 1 on, those posted together in their order and in one message", (t) => {
    const { outbox, sent } = open(t);
    outbox.post({ kind: "a" }, { kind: "b" });
    outbox.post({ kind: "c" });
    assert.deepEqual(sent(), [
      [1, 2],
      [1, 2, 3],
    ]);
    assert.deepEqual(outbox.unanswered, [
      { seq: 1, kind: "a" },
      { seq: 2, kind: "b" },
      { seq: 3, kind: "c" },
    ]);
  });

  test("numbers go on from a higher one that Python acknowledges, as after a reload of the page", (t) => {
    const { outbox, sent } = open(t);
    outbox.acknowledge(7);
    outbox.post({});
    assert.deepEqual(sent(), [[8]]);
    outbox.acknowledge(3);
    outbox.post({});
    assert.deepEqual(sent(), [[8, 9]]);
  });
});

describe("an event without an answer", () => {
  test("is sent again after 3, 6, 12, 24 and 48 seconds, and then no more", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    assert.deepEqual(sent(), [[1]]);
    for (const seconds of [3, 6, 12, 24, 48]) {
      clock.pass(1000 * seconds - 1);
      assert.deepEqual(sent(), [], `before ${seconds} s`);
      clock.pass(1);
      assert.deepEqual(sent(), [[1]], `after ${seconds} s`);
    }
    clock.pass(AN_HOUR);
    assert.deepEqual(sent(), []);
  });

  test("is sent with the next event, which starts the three seconds anew", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    clock.pass(2000);
    outbox.post({});
    clock.pass(PATIENCE - 1);
    assert.deepEqual(sent(), [[1], [1, 2]]);
    clock.pass(1);
    assert.deepEqual(sent(), [[1, 2]]);
  });

  test("is sent as often as before when another event comes", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    clock.pass(AN_HOUR);
    const times = sent().length;
    outbox.post({});
    clock.pass(AN_HOUR);
    assert.deepEqual(sent(), Array(times).fill([1, 2]));
  });

  test("is sent again at once where an answer does not know of it, but not at every answer", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    outbox.repeat();
    assert.deepEqual(sent(), [[1], [1]]);
    outbox.repeat();
    clock.pass(2 * PATIENCE - 1);
    assert.deepEqual([sent(), clock.waiting], [[], 1]);
    clock.pass(1);
    assert.deepEqual(sent(), [[1]]);
  });
});

describe("an acknowledgement", () => {
  test("of all events ends the waiting", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({}, {});
    outbox.acknowledge(2);
    assert.deepEqual([outbox.unanswered, clock.waiting], [[], 0]);
    clock.pass(AN_HOUR);
    assert.deepEqual(sent(), [[1, 2]]);
  });

  test("of some events leaves those with higher numbers, which are sent again", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({}, {}, {});
    outbox.acknowledge(2);
    clock.pass(PATIENCE);
    assert.deepEqual(sent(), [[1, 2, 3], [3]]);
  });

  test("of none changes nothing", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    outbox.acknowledge(0);
    clock.pass(PATIENCE);
    assert.deepEqual(sent(), [[1], [1]]);
  });
});

describe("while Python cannot take events", () => {
  test("it is asked again after 1, 2, 4, 8 and 16 seconds, and then every 16", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    sent();
    for (const seconds of [1, 2, 4, 8, 16, 16, 16]) {
      outbox.later();
      clock.pass(1000 * seconds - 1);
      assert.deepEqual(sent(), [], `before ${seconds} s`);
      clock.pass(1);
      assert.deepEqual(sent(), [[1]], `after ${seconds} s`);
    }
  });

  test("an answer that acknowledges nothing leaves the wait as long as it is", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    outbox.later();
    outbox.acknowledge(0);
    outbox.later();
    clock.pass(1999);
    assert.deepEqual(sent(), [[1]]);
    clock.pass(1);
    assert.deepEqual(sent(), [[1]]);
  });

  test("one that acknowledges an event makes it one second again", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({}, {});
    outbox.later();
    outbox.later();
    outbox.acknowledge(1);
    outbox.later();
    clock.pass(999);
    assert.deepEqual(sent(), [[1, 2]]);
    clock.pass(1);
    assert.deepEqual(sent(), [[2]]);
  });

  test("what was sent after a wait is repeated like anything else", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    outbox.repeat();
    outbox.later();
    sent();
    clock.pass(1000 + PATIENCE - 1);
    assert.deepEqual(sent(), [[1]]);
    clock.pass(1);
    assert.deepEqual(sent(), [[1]]);
  });

  test("there is one timer at most", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({});
    outbox.later();
    outbox.later();
    assert.equal(clock.waiting, 1);
    clock.pass(1500);
    assert.deepEqual(sent(), [[1]]);
  });
});

describe("a line that was lost", () => {
  test("and is back: everything is sent anew, as often as new events", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post({}, {});
    outbox.acknowledge(1);
    clock.pass(AN_HOUR);
    const again = sent().length - 1;
    outbox.post();
    assert.deepEqual(sent(), [[2]]);
    clock.pass(AN_HOUR);
    assert.deepEqual(sent(), Array(again).fill([2]));
  });

  test("nothing is sent where nothing waits", (t) => {
    const { outbox, clock, sent } = open(t);
    outbox.post();
    outbox.post({});
    outbox.acknowledge(1);
    outbox.post();
    clock.pass(AN_HOUR);
    assert.deepEqual(sent(), [[1]]);
  });
});

test("a closed outbox sends nothing", (t) => {
  const { outbox, clock, sent } = open(t);
  outbox.post({});
  outbox.close();
  clock.pass(AN_HOUR);
  assert.deepEqual(sent(), [[1]]);
});
