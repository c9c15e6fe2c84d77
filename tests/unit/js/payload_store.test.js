// Payloads on their way to the stage: the whole of a picture, or what has changed since one that is here.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox } from "../../../crfviz/views/stage/web/outbox.js";
import { PayloadStore } from "../../../crfviz/views/stage/web/payload_store.js";
import { Clock } from "./support/clock.js";

const WHOLE = { whole: "first", ack: 0, words: ["a"], edits: 0 };
const change = (fields) => ({ since: "first", ack: 1, ...fields });

// A stage that has asked for `asked`: [kind, number of the event].
function open(test) {
  new Clock(test);
  const asked = [];
  const outbox = new Outbox((events) => asked.push(...events.map(({ kind, seq }) => [kind, seq])));
  const told = new PayloadStore(outbox);
  const read = ({ wrong = false, ...data }) => ({ ...data, disagrees: wrong });
  return { told, outbox, asked, receive: (data) => told.payload(data, read) };
}

test("changes are drawn on top of the whole that is here, and it has a name for events", (t) => {
  const { told, asked, receive } = open(t);
  assert.equal(told.name, undefined);
  receive(WHOLE);
  assert.equal(told.name, "first");
  const { words, edits, ack } = receive(change({ edits: 5 }));
  assert.deepEqual([words, edits, ack, asked], [["a"], 5, 1, []]);
  assert.equal(told.name, "first");
});

test("changes may get lost: they are since the whole, not since each other", (t) => {
  const { receive } = open(t);
  receive(WHOLE);
  receive(change({ words: ["b"] }));
  assert.deepEqual([receive(change({ edits: 2 })).words, receive(change({})).edits], [["a"], 0]);
});

test("changes of what is not here draw nothing, and the whole is asked for once, by a number new to Python", (t) => {
  const { told, asked, outbox, receive } = open(t);
  assert.equal(receive(change({ ack: 3 })), null);
  assert.equal(receive(change({ ack: 3 })), null);
  assert.deepEqual(asked, [["whole", 4]]);
  outbox.acknowledge(4);
  assert.equal(receive({ ...WHOLE, whole: "second", ack: 4 }).edits, 0);
  assert.equal(told.name, "second");
  assert.equal(receive(change({ ack: 4 })), null);
  assert.deepEqual(asked, [
    ["whole", 4],
    ["whole", 5],
  ]);
});

test("changes of which something else comes here are drawn, and the whole is asked for", (t) => {
  const { asked, receive } = open(t);
  receive(WHOLE);
  assert.equal(receive(change({ edits: 5, wrong: true })).edits, 5);
  assert.deepEqual(asked, [["whole", 2]]);
});
