// The recursions of the stage against all paths listed one by one, and against the numbers of Python.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  backward,
  forward,
  leastTie,
  logSumExp,
  solve,
  transition,
  viterbi,
} from "../../../crfviz/views/stage/web/recursions.js";
import { chainFrom, enumerate, randomChain } from "./support/chains.js";

const PYTHON = JSON.parse(readFileSync(new URL("../../fixtures/recursions.json", import.meta.url), "utf8"));
// tests/unit/views/stage/test_recursions.py holds the fixture to the library within 1e-10: less than 1e-9 in all.
const NEAR = 5e-10;

function assertNear(found, expected, name, tolerance = NEAR) {
  assert.equal(found.length, expected.length, `length of ${name}`);
  for (const [i, value] of expected.entries()) {
    const near = found[i] === value || Math.abs(found[i] - value) <= tolerance;
    assert.ok(near, `${name}[${i}]: expected ${value}, got ${found[i]}`);
  }
}

function assertSolved(chain, expected, tolerance) {
  const solved = solve(chain);
  for (const name of ["alpha", "beta", "best", "marginals"]) {
    assertNear(solved[name], expected[name], name, tolerance);
  }
  assertNear([solved.logPartition, solved.score], [expected.logPartition, expected.score], "log Z, score", tolerance);
  assert.deepEqual(Array.from(solved.backpointers), expected.backpointers);
  assert.deepEqual(solved.rows.viterbi, expected.path);
  return solved;
}

describe("against listing all paths", () => {
  test("scores so far apart that products of their exponentials vanish", () => {
    for (const [seed, size] of [
      { T: 5, K: 2 },
      { T: 4, K: 3 },
      { T: 4, K: 3, perStep: true },
    ].entries()) {
      const chain = randomChain(seed, { ...size, forbidden: 0.1 });
      for (const table of [chain.emissions, chain.transitions, chain.start, chain.end]) {
        for (let i = 0; i < table.length; i++) table[i] *= 400; // exp(-745) is 0
      }
      assertSolved(chain, enumerate(chain), 1e-9);
    }
  });

  const sizes = [
    { T: 1, K: 1 },
    { T: 1, K: 4 },
    { T: 2, K: 3 },
    { T: 5, K: 1 },
    { T: 4, K: 4 },
    { T: 6, K: 2 },
    { T: 3, K: 3, perStep: true },
    { T: 4, K: 2, perStep: true },
  ];
  for (const forbidden of [0, 0.3, 0.6]) {
    for (const whole of [false, true]) {
      test(`${forbidden} of the scores forbidden, ${whole ? "whole scores, which tie" : "scores without ties"}`, () => {
        for (const size of sizes) {
          for (let seed = 0; seed < 6; seed++) {
            const chain = randomChain(seed, { ...size, forbidden, whole });
            const { rows, marginals } = assertSolved(chain, enumerate(chain), 1e-11);
            assert.equal(rows.max_marginal === null, rows.viterbi === null);
            for (const [t, k] of (rows.max_marginal ?? []).entries()) {
              const column = Array.from(marginals.slice(t * size.K, (t + 1) * size.K));
              assert.equal(
                k,
                column.findIndex((value) => value >= Math.max(...column) - 1e-10),
              );
            }
          }
        }
      });
    }
  }
});

describe("against Python", () => {
  const scores = (table) => Float64Array.from(table, (value) => value ?? -Infinity);
  for (const { name, T, K, emissions, transitions, start, end, expected } of PYTHON) {
    test(name, () => {
      const tables = [emissions, transitions, start, end].map(scores);
      const chain = Object.fromEntries(["emissions", "transitions", "start", "end"].map((key, i) => [key, tables[i]]));
      const [logPartition, score] = scores([...expected.logPartition, ...expected.score]);
      const [alpha, beta, best] = [expected.alpha, expected.beta, expected.best].map(scores);
      const path = expected.rows.viterbi;
      const { rows } = assertSolved({ T, K, ...chain }, { ...expected, alpha, beta, best, logPartition, score, path });
      assert.deepEqual(rows, expected.rows);
    });
  }
});

describe("ties", () => {
  const pathOf = (first, second) => viterbi(chainFrom({ emissions: [[first, second]] })).path[0];
  const pointerTo = (first, second) =>
    viterbi(
      chainFrom({
        emissions: [
          [first, second],
          [0, 0],
        ],
      }),
    ).backpointers[2];

  for (const [name, largest, bound] of [
    ["a score of 0", 0, 1e-12],
    ["a score below 1", 0.5, 1e-12],
    ["a negative score above −1", -0.5, 1e-12],
    ["a score of 1000: the bound grows with it", 1000, 1e-9],
    ["a score of −1000: so it does below 0", -1000, 1e-9],
  ]) {
    test(`a lower tag within the bound wins, one beyond it does not: ${name}`, () => {
      for (const tagOf of [pathOf, pointerTo]) {
        assert.equal(tagOf(largest - 0.99 * bound, largest), 0);
        assert.equal(tagOf(largest - 1.01 * bound, largest), 1);
        assert.equal(tagOf(largest, largest - 0.99 * bound), 0);
      }
      assert.equal(leastTie(largest), largest - bound);
    });
  }

  test("a tie keeps the largest score, not that of the lowest tag", () => {
    const chain = chainFrom({
      emissions: [
        [1 - 5e-13, 1],
        [0, 0],
      ],
    });
    assert.deepEqual(Array.from(viterbi(chain).best.slice(2)), [1, 1]);
    assert.equal(viterbi(chain).score, 1);
  });

  test("all scores equal: the lowest tags everywhere", () => {
    const { rows, backpointers } = solve(chainFrom({ emissions: Array(4).fill([0, 0, 0]) }));
    const zeros = [0, 0, 0, 0];
    assert.deepEqual(rows, { greedy: zeros, left_to_right: zeros, viterbi: zeros, max_marginal: zeros });
    assert.deepEqual(Array.from(backpointers), [-1, -1, -1, ...Array(9).fill(0)]);
  });

  test("the tie of two paths is broken at the last word where they differ", () => {
    const swaps = [
      [0, 1],
      [1, 0],
    ];
    const emissions = [
      [0, 0],
      [0, 0],
    ]; // [0, 1] and [1, 0] are the two best paths
    assert.deepEqual(viterbi(chainFrom({ emissions, transitions: swaps })).path, [1, 0]);
  });
});

describe("decoders other than Viterbi", () => {
  const transitions = [
    [0, -5],
    [0, 3],
  ];

  test("greedy takes the best emission of each word; left to right counts START, the step and END", () => {
    const emissions = [
      [1, 0.5],
      [0, 1],
      [1, 0],
    ];
    const plain = solve(chainFrom({ emissions, transitions })).rows;
    assert.deepEqual(
      [plain.greedy, plain.left_to_right],
      [
        [0, 1, 0],
        [0, 0, 0],
      ],
    );
    const started = solve(chainFrom({ emissions, transitions, start: [0, 0.6] })).rows;
    assert.deepEqual(
      [started.greedy, started.left_to_right],
      [
        [0, 1, 0],
        [1, 1, 1],
      ],
    );
    const ended = solve(chainFrom({ emissions, transitions, start: [0, 0.6], end: [2.5, 0] })).rows;
    assert.deepEqual(ended.left_to_right, [1, 1, 0]);
  });

  test("left to right uses the matrix of each step", () => {
    const same = [
      [1, 0],
      [0, 1],
    ];
    const other = [
      [0, 1],
      [1, 0],
    ];
    const chain = chainFrom({
      emissions: [
        [0, 1],
        [0, 0],
        [0, 0],
      ],
      transitions: [same, other],
    });
    assert.deepEqual(solve(chain).rows.left_to_right, [1, 1, 0]);
  });

  test("where every continuation is forbidden the word alone decides", () => {
    const stuck = [
      [-Infinity, -Infinity],
      [0, 0],
    ];
    const emissions = [
      [1, 0],
      [0, 1],
    ];
    assert.deepEqual(solve(chainFrom({ emissions, transitions: stuck })).rows.left_to_right, [0, 1]);
  });

  test("max-marginal is not the best path where many other paths agree on a tag", () => {
    const log = (rows) => rows.map((row) => row.map(Math.log));
    const chain = chainFrom({ emissions: log([[0.4, 0.6]]), transitions: null });
    assert.deepEqual(solve(chain).rows.max_marginal, [1]);
    const two = chainFrom({
      emissions: log([
        [0.45, 0.55],
        [1, 1],
      ]),
      transitions: log([
        [0.9, 0.1],
        [0.5, 0.5],
      ]),
    });
    const { rows } = solve(two);
    assert.deepEqual(
      [rows.viterbi, rows.max_marginal],
      [
        [0, 0],
        [1, 0],
      ],
    );
  });
});

describe("forbidden scores", () => {
  const none = [-Infinity, -Infinity];

  test("no path allowed: no best path, no probability, and the emissions still have their best tags", () => {
    const emissions = [
      [0, 1],
      [2, 0],
      [0, 1],
    ];
    const { rows, marginals, logPartition, score } = solve(chainFrom({ emissions, transitions: [none, none] }));
    assert.deepEqual([rows.viterbi, rows.max_marginal, rows.greedy], [null, null, [1, 0, 1]]);
    assert.deepEqual([logPartition, score], [-Infinity, -Infinity]);
    assert.deepEqual(Array.from(marginals), [0, 0, 0, 0, 0, 0]);
  });

  test("a cell that no prefix reaches has no backpointer, one that is reached has", () => {
    const transitions = [
      [0, -Infinity],
      [0, -Infinity],
    ];
    const chain = chainFrom({
      emissions: [
        [0, 1],
        [0, 0],
        [-Infinity, 0],
      ],
      transitions,
    });
    const { backpointers, best } = viterbi(chain);
    assert.deepEqual(Array.from(backpointers), [-1, -1, 1, -1, -1, -1]);
    assert.deepEqual(Array.from(best), [0, 1, 1, -Infinity, -Infinity, -Infinity]);
  });

  test("START and END can forbid tags", () => {
    const chain = chainFrom({
      emissions: [
        [9, 0],
        [9, 0],
      ],
      start: [-Infinity, 0],
      end: [-Infinity, 0],
    });
    assert.deepEqual(solve(chain).rows.viterbi, [1, 1]);
    assert.equal(solve(chain).logPartition, 0);
    assert.deepEqual(Array.from(forward(chain)), [-Infinity, 0, 9, 0]);
    assert.deepEqual(Array.from(backward(chain)), [0, 0, -Infinity, 0]);
  });
});

describe("log-sum-exp", () => {
  test("of one value, of equal values, and with forbidden ones", () => {
    assert.equal(logSumExp([3.5]), 3.5);
    assertNear([logSumExp([0, 0, 0, 0])], [Math.log(4)], "log 4", 1e-15);
    assert.equal(logSumExp([-Infinity, 2, -Infinity]), 2);
    assert.equal(logSumExp([-Infinity, -Infinity]), -Infinity);
  });

  test("large and small scores neither overflow nor vanish", () => {
    assertNear([logSumExp([1e5, 1e5])], [1e5 + Math.log(2)], "large", 1e-10);
    assertNear([logSumExp([-1e5, -1e5])], [-1e5 + Math.log(2)], "small", 1e-10);
    assertNear([logSumExp([800, 0])], [800], "far apart", 0);
  });
});

test("the transition into word t is that of the one matrix, or of step t − 1 where each has its own", () => {
  const one = chainFrom({
    emissions: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    transitions: [
      [1, 2],
      [3, 4],
    ],
  });
  assert.deepEqual([transition(one, 1, 0, 1), transition(one, 2, 1, 0)], [2, 3]);
  const each = { ...one, transitions: Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8) };
  assert.deepEqual([transition(each, 1, 0, 1), transition(each, 2, 0, 1), transition(each, 2, 1, 0)], [2, 6, 7]);
});

test("a chain is not changed by solving it", () => {
  const chain = randomChain(1, { T: 4, K: 3, forbidden: 0.2 });
  const before = structuredClone(chain);
  solve(chain);
  assert.deepEqual(chain, before);
});
