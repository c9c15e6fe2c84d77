// Formatting and parsing of numbers.

/** @import { Model, Typed } from "./types.js" */

const LARGEST = 1e6; // scores beyond this are rejected, also by the server

/** @param {number} value @param {number} least @param {number} most */
export function clamp(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

// Replaces the hyphen of a formatted number by a minus sign, which never breaks a line.
/** @param {string} text */
export function minus(text) {
  return text.replaceAll("-", "−");
}

/** @param {number} value @param {number} [digits] */
export function score(value, digits = 1) {
  if (value === -Infinity) return "−∞";
  if (Number.isNaN(value)) return "";
  const text = value.toFixed(digits);
  return minus(Number(text) === 0 ? (0).toFixed(digits) : text);
}

/** @param {number} value @param {number} [digits] */
export function signed(value, digits = 2) {
  return (value > 0 ? "+" : "") + score(value, digits);
}

// Formats a number as a further term of a sum: " + 1.5", " − 1.5".
/** @param {number} value @param {number} [digits] */
export function added(value, digits = 2) {
  return value < 0 ? ` − ${score(-value, digits)}` : ` + ${score(value, digits)}`;
}

// Formats a share of 0 to 1 as a percentage for CSS.
/** @param {number} share @param {number} [digits] */
export function percent(share, digits = 2) {
  return `${(100 * share).toFixed(digits)}%`;
}

// Formats a probability with two digits; very small ones and those near one are marked.
/** @param {number} value */
export function probability(value) {
  if (value > 0 && value < 0.005) return value < 1e-4 ? minus(value.toExponential(0)) : value.toPrecision(1);
  return value.toFixed(2);
}

// Formats a marginal with its derivation: p = exp(α + β − log Z).
/** @param {Pick<Model, "results" | "K">} model @param {number} t @param {number} k */
export function marginalText({ results, K }, t, k) {
  const i = t * K + k;
  const [alpha, beta, logPartition] = [results.alpha[i], results.beta[i], results.logPartition];
  const p = minus(results.marginals[i].toPrecision(6));
  if (Number.isNaN(alpha)) return p; // under a rule
  const log = `${score(alpha, 4)}${added(beta, 4)}${added(-logPartition, 4)}`;
  return `exp(${log}) = ${p}`;
}

// Formats a number for editing: short, but equal within 1e-6 when parsed.
/** @param {number} value */
export function precise(value) {
  return value === -Infinity ? "-inf" : String(Number(value.toFixed(6)));
}

// Formats a log-probability for editing as a probability.
/** @param {number} value */
export function preciseProbability(value) {
  return String(Number(Math.exp(value).toPrecision(6)));
}

// Parses a probability as its logarithm; values above 1 are allowed, because a CRF's weights need not sum to one.
/** @param {string} typed @returns {Typed} */
export function readProbability(typed) {
  const read = readScore(typed);
  if (read.value === undefined) return read;
  if (read.value < 0) return { error: `“${typed.trim().slice(0, 20)}” is no probability. Type 0 (forbidden) or more.` };
  return { value: Math.log(read.value) };
}

// Parses typed text: { value }, { restore: true } for an empty cell, or { error } with a message.
/** @param {string} typed @returns {Typed} */
export function readScore(typed) {
  const text = typed.trim().replaceAll("−", "-").replaceAll(/\s/g, "");
  if (text === "") return { restore: true };
  if (/^-(inf|infinity|∞)$/i.test(text)) return { value: -Infinity };
  const dotted = /^[-+]?\d*,\d+$/.test(text) ? text.replace(",", ".") : text;
  const value = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(dotted) ? Number(dotted) : NaN;
  const shown = `“${typed.trim().slice(0, 20)}”`;
  if (Number.isNaN(value)) return { error: `${shown} is not a number. Type one such as -1.5, or -inf to forbid.` };
  if (Math.abs(value) <= LARGEST) return { value };
  return { error: `${shown} is too large. Scores go from -1000000 to 1000000, or -inf to forbid.` };
}

// The two numbers of a cell, such as "2,0".
/** @param {string} cell */
export function numbersOf(cell) {
  return /** @type {[number, number]} */ (cell.split(",").map(Number));
}
