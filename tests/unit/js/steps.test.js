// Walks: what each step uncovers, and what it says.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lengthOf, sightOf } from "../../../crfviz/views/stage/web/stage/visibility.js";

const phase = (fields) => ({ text: "", parts: [], sweep: 0, nodes: [], first: "", last: "", ...fields });

// Over T words: α from left to right, Z at once, β from right to left, and their product.
const WALK = {
  start: "Press → to begin.",
  never: ["path"],
  opens_done: true,
  nodes: [],
  phases: [
    phase({
      text: "α {n} of {T}: {word}",
      first: "α first: {word}",
      parts: ["nodes", "alpha"],
      sweep: 1,
      nodes: ["alpha"],
    }),
    phase({ text: "Z: {z}", parts: ["z"] }),
    phase({
      text: "β {n}: {tag} at {word}, then {after}",
      last: "β last: {word}",
      parts: ["nodes", "beta"],
      sweep: -1,
      nodes: ["beta", "both"],
    }),
    phase({ text: "done", parts: ["nodes", "marginals"], nodes: ["marginals"] }),
  ],
};

function model(fields) {
  return {
    T: 3,
    words: ["the", "old", "man"],
    tags: ["D", "A", "N"],
    walk: WALK,
    covered: new Set(),
    results: { path: [0, 1, 2], logPartition: -1.23456 },
    ...fields,
  };
}

const at = (step, fields, nodes) => sightOf(model(fields), { step, nodes });
const seenWords = ({ sees }, part) => [0, 1, 2].filter((t) => sees(part, t));

test("a walk has a step for each word of each sweep, and one for each other phase", () => {
  assert.equal(lengthOf(WALK, 3), 8);
  assert.equal(lengthOf(WALK, 1), 4);
  assert.equal(lengthOf({ phases: [] }, 3), 0);
});

describe("the words at which a part is seen, step by step", () => {
  const steps = Array.from({ length: 9 }, (_, step) => step);
  const expected = {
    alpha: [[], [0], [0, 1], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]],
    beta: [[], [], [], [], [], [2], [1, 2], [0, 1, 2], [0, 1, 2]],
    // the newest phase that has the part says how far it is
    nodes: [[], [0], [0, 1], [0, 1, 2], [0, 1, 2], [2], [1, 2], [0, 1, 2], [0, 1, 2]],
    z: [[], [], [], [], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]],
    marginals: [[], [], [], [], [], [], [], [], [0, 1, 2]],
    path: Array(9).fill([]), // never
    score: [[], [], [], [], [], [], [], [], [0, 1, 2]], // of no phase: the last step uncovers it
  };
  for (const [part, words] of Object.entries(expected)) {
    test(part, () => {
      assert.deepEqual(
        steps.map((step) => seenWords(at(step), part)),
        words,
      );
      assert.deepEqual(
        steps.map((step) => at(step).sees(part)),
        words.map((each) => each.length > 0),
      );
    });
  }

  test("what is switched off is not seen at any step", () => {
    const covered = new Set(["alpha"]);
    for (const step of steps) assert.equal(at(step, { covered }).sees("alpha"), false);
    assert.equal(at(8, { covered }).sees("beta"), true);
  });

  test("a step beyond the ends of the walk is the end", () => {
    assert.deepEqual([at(-5).steps.at, at(100).steps.at, at(4).steps.at], [0, 8, 4]);
    assert.equal(at(100).steps.of, 8);
  });
});

describe("what a step says", () => {
  const said = (step, fields) => at(step, fields).steps.text;

  test("its number, word, tags and log Z, with texts of their own for the first and last word", () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((step) => said(step)),
      [
        "Press → to begin.",
        "α first: the",
        "α 2 of 3: old",
        "α 3 of 3: man", // without a text of its own for the last
        "Z: −1.2346",
        "β 1: N at man, then –", // nor for the first; and no word comes after
        "β 2: A at old, then N",
        "β last: the",
        "done",
      ],
    );
  });

  test("a dash for the tag where there is no path", () => {
    assert.equal(said(6, { results: { path: null, logPartition: -Infinity } }), "β 2: – at old, then –");
  });

  test("a phase without a sweep has no first and last step", () => {
    const phases = [phase({ text: "usual", first: "first", last: "last" })];
    assert.equal(said(1, { walk: { ...WALK, phases } }), "usual");
  });

  test("the first word's text where it is the last one, too", () => {
    const phases = [phase({ text: "usual", first: "first", last: "last", sweep: -1 })];
    assert.equal(said(1, { T: 1, walk: { ...WALK, phases } }), "first");
  });
});

test("the word that a step has come to, and the parts that it uncovers", () => {
  const columns = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((step) => at(step).steps.column);
  assert.deepEqual(columns, [null, 0, 1, 2, null, 2, 1, 0, null]);
  assert.deepEqual([at(0).steps.parts, at(5).steps.parts], [[], ["nodes", "beta"]]);
});

describe("what the nodes say", () => {
  test("what the newest phase has for them, and before the first step what that will have", () => {
    const nodes = [0, 1, 3, 4, 5, 8].map((step) => at(step).nodes);
    assert.deepEqual(nodes, ["alpha", "alpha", "alpha", "alpha", "beta", "marginals"]);
  });

  test("what the reader chose where the phase has it", () => {
    assert.equal(at(6, {}, "both").nodes, "both");
    assert.equal(at(1, {}, "both").nodes, "alpha");
    assert.deepEqual(at(6).steps.choice, ["beta", "both"]);
  });

  test("marginals without a walk, and where it has nothing for them", () => {
    assert.equal(at(0, { walk: null }, "beta").nodes, "marginals");
    assert.equal(at(0, { walk: { ...WALK, phases: [] } }).nodes, "marginals");
    assert.equal(at(1, { walk: { ...WALK, phases: [phase({})] } }).nodes, "marginals");
    assert.equal(at(1, { walk: { ...WALK, phases: [], nodes: ["alpha"] } }).nodes, "alpha");
  });
});

test("without a walk everything is seen but what is switched off", () => {
  const { steps, sees } = at(0, { walk: null, covered: new Set(["alpha"]) });
  assert.deepEqual([steps, sees("alpha"), sees("beta"), sees("beta", 2)], [null, false, true, true]);
});

describe("a part that a question withholds", () => {
  const withheld = [
    ["alpha", 1, 2],
    ["beta", 0, 3],
  ];
  for (const [name, fields] of [
    ["at the last step of a walk", {}],
    ["without a walk", { walk: null }],
  ]) {
    test(`is not seen ${name}`, () => {
      const sight = at(8, { ...fields, withheld });
      assert.deepEqual([seenWords(sight, "alpha"), seenWords(sight, "beta")], [[0, 2], []]);
      assert.deepEqual([sight.sees("alpha"), sight.sees("beta"), sight.sees("z")], [true, false, true]);
    });
  }

  test("is not open, at any step", () => {
    const { open } = at(0, { withheld });
    assert.deepEqual(
      [0, 1, 2].map((t) => open("alpha", t)),
      [true, false, true],
    );
    assert.deepEqual([open("alpha"), open("beta"), open("path")], [true, false, true]);
    assert.equal(at(0, { withheld: [["beta", 1, 3]] }).open("beta"), true);
    assert.equal(at(0, { withheld: [["beta", 0, 2]] }).open("beta"), true);
  });
});
