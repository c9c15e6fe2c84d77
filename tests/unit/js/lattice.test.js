// Where numbers stand beside the nodes of a lattice, and which words it has.

import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf } from "../../../crfviz/views/stage/web/parts/lattice.js";
import { standsBelow } from "../../../crfviz/views/stage/web/parts/lattice_paths.js";

const XY = { x: (t) => 100 * t + 50, y: (k) => 40 * k + 20 };
const NUMBER = { x: 13, y: 10, width: 26, height: 10 };

const stands = (path, t, sees = true) =>
  standsBelow({ results: { path }, sees: () => sees, T: 2 }, { xy: XY }, t, path?.[t] ?? 0, NUMBER);

test("a number stands below where the best path rises, and above where it falls or goes on", () => {
  assert.equal(stands([4, 0], 0), true);
  assert.equal(stands([0, 4], 0), false);
  assert.equal(stands([2, 2], 0), false);
});

test("it stands above at the last word, and where no path is drawn", () => {
  assert.equal(stands([4, 0], 1), false);
  assert.equal(stands(null, 0), false);
  assert.equal(stands([4, 0], 0, false), false);
});

test("a lattice of thousands of nodes has the words in sight and the chosen one", () => {
  const inSight = { from: 3, to: 6 };
  assert.deepEqual([...columnsOf({ inSight, sparse: false, cell: [9, 0] })], [3, 4, 5]);
  assert.deepEqual([...columnsOf({ inSight, sparse: true, cell: [9, 0] })], [3, 4, 5, 9]);
  assert.deepEqual([...columnsOf({ inSight, sparse: true, cell: [4, 0] })], [3, 4, 5]);
});
