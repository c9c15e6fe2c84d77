// Columns from right to left: where they are, what their keys are, and who decides.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keysAsRead, runsRightToLeft } from "../../../crfviz/views/stage/web/direction.js";
import { curve, middlesOf, standsBelow } from "../../../crfviz/views/stage/web/parts/lattice_paths.js";
import { legendOf, withoutKeys } from "../../../crfviz/views/stage/web/stage/visibility.js";

const SIZES = { lefts: [0, 100, 160, 300] };

test("the reader's choice overrides the sentence", () => {
  assert.deepEqual(
    ["", "auto", "ltr", "rtl", "sideways"].map((chosen) => [true, false].map((rtl) => runsRightToLeft(chosen, rtl))),
    [
      [true, false],
      [true, false],
      [false, false],
      [true, true],
      [true, false],
    ],
  );
});

test("the columns of a picture are mirrored", () => {
  const [right, left] = [true, false].map((rtl) => middlesOf({ rtl, T: 3, sizes: SIZES }));
  assert.deepEqual([0, 1, 2].map(left), [50, 130, 230]);
  assert.deepEqual([0, 1, 2].map(right), [250, 170, 70]);
});

test("a step runs to the left, first under its score", () => {
  const xy = { x: middlesOf({ rtl: true, T: 3, sizes: SIZES }), y: (k) => 10 * k, lead: -40, way: -1 };
  assert.equal(curve(xy, 1, 0, 2), "M250 0H210C190 0 190 20 170 20");
});

test("a number left of its node stands below where the best path rises", () => {
  const number = { x: 13, y: 10, width: 26, height: 10 };
  const xy = { x: (t) => 150 - 100 * t, y: (k) => 40 * k };
  const stands = (path) => standsBelow({ results: { path }, sees: () => true, T: 2 }, { xy }, 0, path[0], number);
  assert.deepEqual(
    [
      [4, 0],
      [0, 4],
      [2, 2],
    ].map(stands),
    [true, false, false],
  );
});

test("texts name the key that goes on", () => {
  assert.equal(keysAsRead("Press → or PageDown to begin.", true), "Press ← or PageDown to begin.");
  assert.equal(keysAsRead("Press → or PageDown to begin.", false), "Press → or PageDown to begin.");
  const legend = "→ ← or PageDown PageUp: step · A→B: a step";
  assert.equal(legendOf({ legend, covered: new Set(), rtl: true }), "← → or PageDown PageUp: step · A→B: a step");
});

for (const [hint, expected] of [
  ["Type or drag; Alt+arrows nudge, Delete restores, -inf forbids the step", "Type or drag; -inf forbids the step"],
  ["click its first word, then its last; Shift+arrows stretch it", "click its first word, then its last"],
  ["→ ← or PageDown PageUp: step", ""],
  ["A→B: a step", "A→B: a step"],
]) {
  test(`without keys, “${hint}” is “${expected}”`, () => assert.equal(withoutKeys(hint), expected));
}

test("a legend without keys keeps its other parts", () => {
  const legend = "→ ← or PageDown PageUp: step · thick line: Viterbi · red dashes: greedy";
  const model = { legend, covered: new Set(["viterbi"]), rtl: false };
  assert.equal(legendOf(model, false), "thick line: Viterbi");
});
