// How numbers are written on the stage, and how typed ones are read.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as numbers from "../../../crfviz/views/stage/web/numbers.js";

// `write` gives the second of each pair for the first.
function assertWritten(write, pairs) {
  for (const [given, expected] of pairs) {
    const values = Array.isArray(given) ? given : [given];
    assert.deepEqual(write(...values), expected, `of ${values.join(", ")}`);
  }
}

test("clamp keeps a value between two bounds", () => {
  assertWritten(numbers.clamp, [
    [[5, 1, 3], 3],
    [[-5, 1, 3], 1],
    [[2, 1, 3], 2],
  ]);
});

test("a true minus takes the place of every hyphen", () => {
  assertWritten(numbers.minus, [
    ["-1e-5", "−1e−5"],
    ["1.5", "1.5"],
  ]);
});

test("scores have a true minus, and nothing is minus zero", () => {
  assertWritten(numbers.score, [
    [1.25, "1.3"],
    [-1.26, "−1.3"],
    [[-1.256, 2], "−1.26"],
    [[12, 0], "12"],
    [-0, "0.0"],
    [-0.04, "0.0"],
    [[-0.004, 2], "0.00"],
    [[-0.006, 2], "−0.01"],
    [-Infinity, "−∞"],
    [NaN, ""],
  ]);
});

test("changes have a sign, unless there is none", () => {
  assertWritten(numbers.signed, [
    [0.5, "+0.50"],
    [-2, "−2.00"],
    [0, "0.00"],
    [-Infinity, "−∞"],
    [[1.25, 1], "+1.3"],
  ]);
});

test("a negative number is taken away", () => {
  assertWritten(numbers.added, [
    [1.5, " + 1.50"],
    [[-1.5, 1], " − 1.5"],
    [0, " + 0.00"],
    [[-2.25, 3], " − 2.250"],
  ]);
});

test("a share as CSS has it", () => {
  assertWritten(numbers.percent, [
    [0.125, "12.50%"],
    [[1, 0], "100%"],
  ]);
});

test("probabilities keep two digits, and one figure where those would be 0.00", () => {
  assertWritten(numbers.probability, [
    [0, "0.00"],
    [1, "1.00"],
    [0.126, "0.13"],
    [0.005, "0.01"],
    [0.0049, "0.005"],
    [0.00012, "0.0001"],
    [1e-4, "0.0001"],
    [9.9e-5, "1e−4"],
    [0.00003, "3e−5"],
  ]);
});

test("a marginal is written with where it comes from", () => {
  const table = (last) => [0, 0, 0, 0, 0, last];
  const results = { alpha: table(1.5), beta: table(-2.25), logPartition: 0.5, marginals: table(Math.exp(-1.25)) };
  assert.equal(numbers.marginalText({ results, K: 3 }, 1, 2), "exp(1.5000 − 2.2500 − 0.5000) = 0.286505");
  const tiny = { ...results, logPartition: -0.5, marginals: table(1.25e-7) };
  assert.equal(numbers.marginalText({ results: tiny, K: 3 }, 1, 2), "exp(1.5000 − 2.2500 + 0.5000) = 1.25000e−7");
});

test("a cell that is edited shows its number to six digits, and -inf as it is typed", () => {
  assertWritten(numbers.precise, [
    [1.5, "1.5"],
    [-0.1234567, "-0.123457"],
    [3, "3"],
    [-Infinity, "-inf"],
  ]);
  assertWritten(numbers.preciseProbability, [
    [Math.log(0.25), "0.25"],
    [Math.log(1 / 3), "0.333333"],
    [-Infinity, "0"],
  ]);
});

describe("typed scores", () => {
  test("are read with either minus, a decimal comma, spaces and exponents", () => {
    const valid = {
      1.5: 1.5,
      "-1.5": -1.5,
      "−1.5": -1.5,
      "+2": 2,
      "1,5": 1.5,
      "-,5": -0.5,
      ".5": 0.5,
      "5.": 5,
      " 1 000 ": 1000,
      "2e3": 2000,
      "2E-3": 0.002,
      "1.5e+2": 150,
      1000000: 1e6,
      "-1000000": -1e6,
    };
    assertWritten(
      numbers.readScore,
      Object.entries(valid).map(([typed, value]) => [typed, { value }]),
    );
  });

  test("forbid with -inf in its spellings", () => {
    for (const typed of ["-inf", "-INF", "−∞", "-infinity", " - inf "]) {
      assert.deepEqual(numbers.readScore(typed), { value: -Infinity });
    }
  });

  test("restore the trained score where the cell is empty", () => {
    for (const typed of ["", "  ", "\t"]) assert.deepEqual(numbers.readScore(typed), { restore: true });
  });

  test("are refused in words where they are no numbers, with at most 20 characters of them", () => {
    for (const typed of ["abc", "inf", "+inf", "1,000,5", "1.2.3", "--1", "e5", ".", "1,", "0x10", "-infi", "x-inf"]) {
      const error = `“${typed}” is not a number. Type one such as -1.5, or -inf to forbid.`;
      assert.deepEqual(numbers.readScore(typed), { error });
    }
    assert.match(numbers.readScore(`  ${"x".repeat(30)}`).error, /^“x{20}” is not a number/);
  });

  test("are refused beyond a million", () => {
    for (const typed of ["1000000.5", "-1000001", "1e7", "1e999"]) {
      const error = `“${typed}” is too large. Scores go from -1000000 to 1000000, or -inf to forbid.`;
      assert.deepEqual(numbers.readScore(typed), { error });
    }
  });
});

describe("typed probabilities", () => {
  test("are read as their logarithms: 0 forbids, more than 1 is allowed", () => {
    assertWritten(numbers.readProbability, [
      ["1", { value: 0 }],
      ["0,25", { value: Math.log(0.25) }],
      ["2", { value: Math.log(2) }],
      ["0", { value: -Infinity }],
      ["", { restore: true }],
    ]);
  });

  test("are refused in words below 0 and where they are no numbers", () => {
    const error = (typed) => `“${typed}” is no probability. Type 0 (forbidden) or more.`;
    assertWritten(numbers.readProbability, [
      ["-0.1", { error: error("-0.1") }],
      [" -inf", { error: error("-inf") }],
      [`-0.${"1".repeat(30)}`, { error: error(`-0.${"1".repeat(17)}`) }],
    ]);
    assert.match(numbers.readProbability("a").error, /^“a” is not a number/);
  });
});
