// Answers of those who follow a lecture: which of them arrive, and in which order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Answers } from "../../../crfviz/ui/live_room/web/answers.js";
import { Clock } from "./support/clock.js";

const TAKEN = { ok: true };
const AWAY = { ok: false, status: 500, json: async () => ({ message: "failed" }) };
const REFUSED = { ok: false, status: 409, json: async () => ({ message: "over" }) };
const ON_ITS_WAY = "Sending your answer …";

// `reply` answers the post of a number, with an error in place of an answer where the line is lost.
function open(test) {
  const clock = new Clock(test);
  const [posted, said, waiting] = [[], [], []];
  const post = (question, choice) => {
    posted.push([question, choice]);
    return new Promise((answer, fail) => waiting.push({ answer, fail }));
  };
  const answers = new Answers(post, (text) => said.push(text));
  const reply = (number, answer) => {
    waiting[number][answer instanceof Error ? "fail" : "answer"](answer);
    return new Promise(setImmediate);
  };
  return { answers, clock, posted, said, reply };
}

test("of quick answers the last is sent after the first is taken, the others are not", async (t) => {
  const { answers, posted, reply } = open(t);
  for (const choice of [0, 1, 2]) answers.give("q", choice);
  assert.deepEqual(posted, [["q", 0]]);
  await reply(0, TAKEN);
  assert.deepEqual(posted, [
    ["q", 0],
    ["q", 2],
  ]);
});

test("an answer that did not arrive is sent again after two seconds", async (t) => {
  const { answers, clock, posted, said, reply } = open(t);
  answers.give("q", 0);
  await reply(0, new TypeError("no line"));
  clock.pass(1999);
  assert.equal(posted.length, 1);
  clock.pass(1);
  assert.deepEqual(posted, [
    ["q", 0],
    ["q", 0],
  ]);
  assert.deepEqual(said, [ON_ITS_WAY]);
});

test("another answer does not wait for that", async (t) => {
  const { answers, posted, said, reply } = open(t);
  answers.give("q", 0);
  await reply(0, AWAY);
  answers.give("q", 1);
  await reply(1, TAKEN);
  assert.deepEqual(posted, [
    ["q", 0],
    ["q", 1],
  ]);
  assert.deepEqual(said, [ON_ITS_WAY, "Answer sent. You can still change it."]);
});

test("a refusal is said and the answer not sent again", async (t) => {
  const { answers, clock, posted, said, reply } = open(t);
  answers.give("q", 0);
  await reply(0, REFUSED);
  clock.pass(60_000);
  assert.deepEqual([posted, said], [[["q", 0]], ["over"]]);
});

test("questions do not wait for each other", (t) => {
  const { answers, posted } = open(t);
  answers.give("q", 0);
  answers.give("r", 1);
  assert.deepEqual(posted, [
    ["q", 0],
    ["r", 1],
  ]);
});
