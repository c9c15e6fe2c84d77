// The payload decoded, edits and pins on top of it, and which tags are drawn.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  applyEdits,
  chainOf,
  decode,
  editList,
  editsOf,
  FEW_TAGS,
  MAX_BY_HAND,
  movesOf,
  shownTags,
  underRule,
  weight,
  writtenAt,
} from "../../../crfviz/views/stage/web/model.js";
import { solve } from "../../../crfviz/views/stage/web/recursions.js";

const base64 = (array) => Buffer.from(array.buffer).toString("base64");
const floats = (...values) => base64(Float64Array.from(values));
const integers = (...values) => base64(Int16Array.from(values));
const cells = (...values) => base64(Int32Array.from(values));

const TRAINED = {
  emissions: floats(1, 2, 3, 4, 5, 6),
  transitions: floats(0.1, 0.2, -Infinity, 0.4),
  start: floats(10, 20),
  end: floats(-1, -2),
  steps: null,
};
const NO_EDITS = { transitions: [], emissions: [], strength: 1 };
const PINNED_OUT = -Infinity;

// A payload of three words and two tags, whose results come without tables.
function payload(fields) {
  return {
    words: ["a", "b", "c"],
    tags: ["A", "B"],
    trained: TRAINED,
    edits: NO_EDITS,
    pins: [],
    results: { log_partition: solved.logPartition, path: solved.rows.viterbi, score: solved.score, backpointers: "" },
    ghost: null,
    ruler: null,
    pile: null,
    gradient: null,
    tables: [],
    ...fields,
  };
}

const solved = solve(chainOf(TRAINED, 3, 2));
const plain = (table) => Array.from(table);

describe("a table as far as the steps have written it", () => {
  const size = { T: 2, K: 2 };
  const table = {
    name: "yours",
    writes: [floats(0, 0, 1.5, 0, 1, -Infinity), floats(1, 1, NaN), floats(0, 0, 2.5)],
  };
  const [X, FORBIDDEN] = [NaN, -Infinity];
  for (const [at, values, written] of [
    [0, [X, X, X, X], []],
    [
      1,
      [1.5, FORBIDDEN, X, X],
      [
        [0, true],
        [1, true],
      ],
    ],
    [
      2,
      [1.5, FORBIDDEN, X, X],
      [
        [0, false],
        [1, false],
        [3, true],
      ],
    ],
    [
      3,
      [2.5, FORBIDDEN, X, X],
      [
        [0, true],
        [1, false],
        [3, false],
      ],
    ],
    [
      9,
      [2.5, FORBIDDEN, X, X],
      [
        [0, false],
        [1, false],
        [3, false],
      ],
    ],
  ]) {
    test(`after ${at} steps`, () => {
      const drawn = writtenAt(table, size, at);
      assert.deepEqual(plain(drawn.values), values);
      assert.deepEqual([...drawn.written], written);
    });
  }

  test("a table without writes stays as it is", () => {
    const other = { name: "alpha" };
    assert.equal(writtenAt(other, size, 1), other);
  });
});

describe("decode", () => {
  test("results that come without tables are worked out here, and agree", () => {
    const { T, K, results, disagrees, perStep, trained } = decode(payload());
    assert.deepEqual([T, K, disagrees, perStep], [3, 2, false, false]);
    assert.deepEqual(plain(trained.emissions), [1, 2, 3, 4, 5, 6]);
    for (const name of ["alpha", "beta", "best", "marginals"]) assert.deepEqual(results[name], solved[name]);
    assert.deepEqual([results.logPartition, results.score], [solved.logPartition, solved.score]);
  });

  test("they are worked out with the edits and the pins", () => {
    const chain = chainOf(TRAINED, 3, 2);
    const emissions = Float64Array.of(12, -Infinity, 3, 4, 5, 6);
    const { logPartition, rows } = solve({ ...chain, emissions });
    const edits = { ...NO_EDITS, emissions: [[0, "A", 12]] };
    const results = { ...payload().results, log_partition: logPartition, path: rows.viterbi };
    const disagrees = (fields) => decode(payload({ results, ...fields })).disagrees;
    assert.equal(disagrees({ edits, pins: [[0, "A"]] }), false);
    assert.equal(disagrees({ edits }), true);
    assert.equal(disagrees({ pins: [[0, "A"]] }), true);
  });

  test("log Z may differ by a billionth of its size", () => {
    const shifted = (by) => ({ ...payload().results, log_partition: solved.logPartition + by });
    const bound = 1e-9 * solved.logPartition;
    assert.ok(solved.logPartition > 2);
    for (const [by, disagrees] of [
      [0.98 * bound, false],
      [-0.98 * bound, false],
      [1.02 * bound, true],
      [-1.02 * bound, true],
    ]) {
      assert.equal(decode(payload({ results: shifted(by) })).disagrees, disagrees, `by ${by}`);
    }
  });

  test("a log Z below 1 may differ by a billionth", () => {
    const zero = { emissions: floats(-0.5), transitions: floats(0), start: floats(0), end: floats(0), steps: null };
    const results = (by) => ({ log_partition: -0.5 + by, path: [0], score: -0.5, backpointers: "" });
    const disagrees = (by) =>
      decode(payload({ words: ["a"], tags: ["A"], trained: zero, results: results(by) })).disagrees;
    assert.deepEqual([disagrees(0.98e-9), disagrees(-1.02e-9)], [false, true]);
  });

  test("another best path, or none, disagrees", () => {
    for (const path of [[0, 0, 0], null, [0]]) {
      assert.equal(decode(payload({ results: { ...payload().results, path } })).disagrees, true);
    }
  });

  test("where no path is allowed both have neither log Z nor path", () => {
    const trained = { ...TRAINED, end: floats(-Infinity, -Infinity) };
    const none = { log_partition: null, path: null, score: null, backpointers: "" };
    const { disagrees, results } = decode(payload({ trained, results: none }));
    assert.deepEqual([disagrees, results.logPartition, results.score], [false, -Infinity, -Infinity]);
    assert.equal(decode(payload({ results: none })).disagrees, true);
  });

  test("tables that come are taken as they are", () => {
    const sent = {
      log_partition: 7,
      score: 6,
      path: [1, 1, 1],
      marginals: floats(0.25, 0.75),
      alpha: floats(1, -Infinity),
      beta: null,
      best: null,
      backpointers: integers(-1, 1),
    };
    const { results, disagrees, trained } = decode(payload({ trained: null, results: sent }));
    assert.deepEqual([disagrees, trained], [false, null]);
    assert.deepEqual(
      [plain(results.marginals), plain(results.alpha)],
      [
        [0.25, 0.75],
        [1, -Infinity],
      ],
    );
    assert.deepEqual([plain(results.backpointers), results.beta, results.logPartition], [[-1, 1], null, 7]);
  });

  test("the tables of a ghost are those sent, else those of the trained scores", () => {
    const own = decode(payload({ edits: { ...NO_EDITS, strength: 0 }, ghost: { path: [0, 1, 0] } })).ghost;
    assert.deepEqual([own.path, own.marginals, own.alpha], [[0, 1, 0], solved.marginals, solved.alpha]);
    assert.deepEqual(Object.keys(own).sort(), ["alpha", "best", "beta", "marginals", "path"]);
    const sent = decode(payload({ ghost: { path: null, marginals: floats(0.5) } })).ghost;
    assert.deepEqual([plain(sent.marginals), sent.alpha], [[0.5], undefined]);
  });

  test("grids have their values and trained values as numbers, if they have them", () => {
    const tables = [
      { name: "alpha", values: floats(1, 2), trained: floats(3) },
      { name: "emissions", values: null },
    ];
    const [alpha, emissions] = decode(payload({ tables })).tables;
    assert.deepEqual([plain(alpha.values), plain(alpha.trained), alpha.name], [[1, 2], [3], "alpha"]);
    assert.deepEqual(emissions, tables[1]);
  });

  test("a ruler is unbounded where its ends are null, and forbidden where its trained value is", () => {
    const pieces = [
      { label: "A", low: null, high: 1 },
      { label: "B", low: 1, high: null },
    ];
    const { ruler } = decode(payload({ ruler: { weight: ["B", "END"], trained: null, pieces } }));
    assert.deepEqual(ruler, {
      weight: ["B", "END"],
      cell: [1, 2],
      trained: -Infinity,
      pieces: [
        { label: "A", low: -Infinity, high: 1 },
        { label: "B", low: 1, high: Infinity },
      ],
    });
    assert.equal(decode(payload({ ruler: { weight: ["START", "A"], trained: 0, pieces: [] } })).ruler.trained, 0);
  });

  test("a pile of samples and a gradient are numbers", () => {
    const observed = { transitions: floats(1, 0, 0, 1.5), start: floats(1, 0), end: floats(0, 1) };
    const difference = { transitions: floats(0.5, 0, 0, -1), start: floats(0, 0), end: floats(0.25, 0) };
    const pile = { drawn: 3, uses: integers(1, 2), moves: integers(0, 1, 3) };
    const decoded = decode(payload({ pile, gradient: { observed, difference } }));
    assert.deepEqual([plain(decoded.pile.uses), plain(decoded.pile.moves), decoded.pile.drawn], [[1, 2], [0, 1, 3], 3]);
    assert.deepEqual([decoded.gradient.observed.K, decoded.gradient.difference.K], [2, 2]);
    assert.deepEqual(plain(decoded.gradient.observed.transitions), [1, 0, 0, 1.5]);
    assert.deepEqual(plain(decoded.gradient.difference.transitions), [0.5, 0, 0, -1]);
    assert.deepEqual(plain(decoded.gradient.difference.end), [0.25, 0]);
  });
});

describe("scores where each step has a matrix of its own", () => {
  const steps = { cells: cells(1, 6), values: floats(-9, -Infinity) };

  test("are one matrix, and the cells that differ", () => {
    const { transitions } = chainOf({ ...TRAINED, steps }, 3, 2);
    assert.deepEqual(plain(transitions), [0.1, -9, -Infinity, 0.4, 0.1, 0.2, -Infinity, 0.4]);
    assert.equal(decode(payload({ trained: { ...TRAINED, steps } })).perStep, true);
  });

  test("a weight is that of the step into a word, the first one where none is said", () => {
    const chain = chainOf({ ...TRAINED, steps }, 3, 2);
    const of = (...cell) => weight(chain, ...cell);
    assert.deepEqual([of(0, 1), of(0, 1, 1), of(0, 1, 2)], [-9, -9, 0.2]);
    assert.deepEqual([of(-1, 1), of(0, 2), of(1, 1, 2)], [20, -1, 0.4]);
  });

  test("an edit of a transition is one of all steps", () => {
    const known = decode(payload({ trained: { ...TRAINED, steps } }));
    const edited = applyEdits(known, editsOf({ ...NO_EDITS, transitions: [["A", "B", 5]] }, known));
    assert.deepEqual(plain(edited.transitions), [0.1, 5, -Infinity, 0.4, 0.1, 5, -Infinity, 0.4]);
  });
});

describe("edits", () => {
  const apply = (edits, fields) => {
    const known = decode(payload(fields));
    return applyEdits(known, editsOf({ ...NO_EDITS, ...edits }, known));
  };

  test("are kept by cell, and null is -inf", () => {
    const edits = editsOf(
      { transitions: [["A", "B", null]], emissions: [[2, "B", 0]], strength: 0.5 },
      { tags: ["A", "B"], copies: null },
    );
    assert.deepEqual(
      [...edits.transitions, ...edits.emissions],
      [
        ["0,1", -Infinity],
        ["2,1", 0],
      ],
    );
    assert.equal(edits.strength, 0.5);
    assert.deepEqual(
      [...editsOf({ ...NO_EDITS, emissions: [[0, "A", null]] }, { tags: ["A"], copies: null }).emissions],
      [["0,0", -Infinity]],
    );
  });

  test("of tags with commas are each in a cell of its own", () => {
    const tags = ["a", "a,b", "b", "b,a", ","];
    const ends = [["START", -1], ...tags.map((tag, k) => [tag, k])];
    for (const [from, i] of ends)
      for (const [j, to] of tags.entries()) assert.deepEqual(movesOf({ tags }, from, to), [`${i},${j}`]);
    assert.deepEqual(
      tags.map((from) => movesOf({ tags }, from, "END")),
      [["0,5"], ["1,5"], ["2,5"], ["3,5"], ["4,5"]],
    );
    assert.deepEqual(movesOf({ tags }, "none", "a"), []);
  });

  test("overwrite transitions, START, END and emissions", () => {
    const transitions = [
      ["B", "A", 7],
      ["START", "B", 8],
      ["A", "END", 9],
    ];
    const chain = apply({ transitions, emissions: [[1, "B", -3]] });
    assert.deepEqual(plain(chain.transitions), [0.1, 0.2, 7, 0.4]);
    assert.deepEqual(
      [plain(chain.start), plain(chain.end)],
      [
        [10, 8],
        [9, -2],
      ],
    );
    assert.deepEqual(plain(chain.emissions), [1, 2, 3, -3, 5, 6]);
  });

  test("strength scales transitions, START and END, neither emissions nor what is forbidden nor other edits", () => {
    const chain = apply({ strength: 0, transitions: [["A", "B", 7]] });
    assert.deepEqual(plain(chain.transitions), [0, 7, -Infinity, 0]);
    assert.deepEqual(
      [plain(chain.start), plain(chain.end)],
      [
        [0, 0],
        [-0, -0],
      ],
    );
    assert.deepEqual(plain(chain.emissions), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(plain(apply({ strength: 0.5 }).start), [5, 10]);
  });

  test("pins leave one tag at their word, over an edit, too; words beyond the sentence are left out", () => {
    const pins = [
      [0, "B"],
      [2, "A"],
      [3, "A"],
    ];
    const chain = apply(
      {
        emissions: [
          [0, "A", 99],
          [3, "A", 1],
        ],
      },
      { pins },
    );
    assert.deepEqual(plain(chain.emissions), [PINNED_OUT, 2, 3, 4, 5, PINNED_OUT]);
  });

  test("of a tag that a rule has split move all of its copies that may follow, and no others", () => {
    const copies = { of: ["A", "B"], allowed: integers(1, 1, 0, 0, 1, 1, 1, 0, 0) };
    const split = { tags: ["A", "B"], copies };
    assert.deepEqual(movesOf(split, "A", "A"), []);
    const twice = { tags: ["A·0", "A·1"], copies: { ...copies, of: ["A", "A"] } };
    assert.deepEqual(movesOf(twice, "A", "A"), ["0,1", "1,0"]);
    assert.deepEqual(movesOf(twice, "START", "A"), ["-1,0", "-1,1"]);
    assert.deepEqual(movesOf(twice, "A", "END"), ["0,2"]);
    const { transitions, emissions } = editsOf(
      { ...NO_EDITS, transitions: [["A", "A", 5]], emissions: [[1, "A", 2]] },
      twice,
    );
    assert.deepEqual(Object.fromEntries(transitions), { "0,1": 5, "1,0": 5 });
    assert.deepEqual(Object.fromEntries(emissions), { "1,0": 2, "1,1": 2 });
    const pinned = applyEdits(decode(payload({ ...twice, pins: [[0, "A"]] })), editsOf(NO_EDITS, twice));
    assert.deepEqual(plain(pinned.emissions), [1, 2, 3, 4, 5, 6]);
  });

  test("leave the trained scores as they are", () => {
    const known = decode(payload({ pins: [[0, "A"]] }));
    const before = structuredClone(known.trained);
    const transitions = [
      ["A", "A", 1],
      ["START", "A", 1],
      ["A", "END", 1],
    ];
    applyEdits(known, editsOf({ transitions, emissions: [[0, "A", 1]], strength: 2 }, known));
    assert.deepEqual(known.trained, before);
  });
});

describe("the best path under a rule", () => {
  const kept = { of: ["A", "B"], allowed: integers(1, 0, 0, 0, 1, 1, 0, 1, 1) }; // A B*
  const row = { id: "rule", label: "under the rule", tags: [0], value: "" };
  const place = { tags: ["A", "B"], kept, offset: 0, T: 3 };
  const chain = chainOf(TRAINED, 3, 2);
  const best = solve(chain).score;

  test("is that of all words, and the row has those in sight", () => {
    assert.deepEqual(underRule(row, chain, place, best).tags, [0, 1, 1]);
    assert.deepEqual(underRule(row, chain, { ...place, offset: 1, T: 2 }, best).tags, [1, 1]);
    assert.deepEqual(underRule(row, chain, { ...place, offset: 0, T: 1 }, best).tags, [0]);
    assert.equal(underRule(row, chain, { ...place, kept: null }, best), row);
  });
});

describe("the tags that are drawn", () => {
  const K = 12;
  const names = Array.from({ length: K }, (_, k) => `T${k}`);

  // Of two words, where tag 0 has nearly all the probability at each.
  function drawn(fields, kept) {
    const marginals = new Float64Array(2 * K);
    marginals[0] = marginals[K] = 0.9;
    for (const [place, share] of fields.shares ?? []) marginals[place] = share;
    const edits = { transitions: new Map(fields.transitions), emissions: new Map(fields.emissions) };
    const model = {
      K,
      T: 2,
      tags: names,
      results: { marginals },
      rows: [],
      ghost: null,
      asked: null,
      ...fields,
      edits,
    };
    return [...shownTags(model, kept)].sort((a, b) => a - b);
  }

  test("are those with more than a hundredth at any word", () => {
    const shares = [
      [3, 0.0101],
      [K + 5, 0.5],
      [6, 0.01],
    ];
    assert.deepEqual(drawn({ shares }), [0, 3, 5]);
  });

  test("are those of the trained model, too", () => {
    const marginals = new Float64Array(2 * K);
    marginals[K + 4] = 0.02;
    assert.deepEqual(drawn({ ghost: { marginals, path: null } }), [0, 4]);
    assert.deepEqual(drawn({ ghost: { path: [7, 8] } }), [0, 7, 8]);
  });

  test("are those on a row, asked for, edited, or kept while something is dragged", () => {
    assert.deepEqual(drawn({ rows: [{ tags: [1, 2] }, { texts: [] }] }), [0, 1, 2]);
    assert.deepEqual(drawn({ asked: [1, 9] }), [0, 9]);
    assert.deepEqual(drawn({ emissions: [["1,6", 2]] }), [0, 6]);
    assert.deepEqual(
      drawn({
        transitions: [
          ["3,4", 1],
          ["-1,5", 1],
          [`6,${K}`, 1],
        ],
      }),
      [0, 3, 4, 5, 6],
    );
    const kept = new Set([11]);
    assert.deepEqual(drawn({ rows: [{ tags: [1] }] }, kept), [0, 1, 11]);
    assert.deepEqual([...kept], [11]);
  });

  test(`are not those of more than ${MAX_BY_HAND} edits of the matrix: a step of learning makes them`, () => {
    const transitions = (count) =>
      Array.from({ length: count }, (_, i) => [`${1 + (i % 5)},${Math.floor(i / 5) % 6}`, 1]);
    assert.deepEqual(drawn({ transitions: transitions(30) }), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(drawn({ transitions: [...transitions(30), ["1,11", 1]] }), [0]);
  });

  test("are all where at most one would be left out", () => {
    const rows = (count) => [{ tags: Array.from({ length: count }, (_, k) => k) }];
    assert.equal(drawn({ rows: rows(K - 2) }).length, K - 2);
    assert.equal(drawn({ rows: rows(K - 1) }).length, K);
  });

  test(`are all where there are ${FEW_TAGS} or fewer`, () => {
    const of = (count) => {
      const marginals = new Float64Array(count);
      marginals[0] = 1;
      const edits = { transitions: new Map(), emissions: new Map() };
      return shownTags({ K: count, T: 1, tags: names, results: { marginals }, rows: [], edits }).size;
    };
    assert.deepEqual([FEW_TAGS, of(9), of(10)], [9, 9, 1]);
  });
});

describe("the list of edits below a saved picture", () => {
  const edited = (edits, fields) => editList(decode(payload({ edits: { ...NO_EDITS, ...edits }, ...fields })));

  test("names tags, START, END and words with their numbers", () => {
    assert.equal(edited({}), "");
    assert.equal(edited({ transitions: [["A", "B", -3]] }), "1 edit: A → B −3.00");
    const transitions = [
      ["START", "B", null],
      ["A", "END", 0.5],
    ];
    assert.equal(
      edited({ transitions, emissions: [[1, "B", 2]], strength: 0.25 }),
      "4 edits: START → B −∞, A → END 0.50, 2 “b” B 2.00, transitions × 0.25",
    );
  });

  test("counts those beyond five", () => {
    const emissions = [0, 1, 2].flatMap((t) => ["A", "B"].map((tag) => [t, tag, t]));
    assert.match(edited({ emissions }), /^6 edits: 1 “a” A 0\.00, .* and 1 more$/);
  });
});
