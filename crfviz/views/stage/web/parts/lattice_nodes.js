// A node of the lattice: its size and text show its marginal, or the score that a walk computes.

import { changed, fit, flag, hide, mark, set, setAll, setText, svg } from "../dom.js";
import { clamp, probability, score, signed } from "../numbers.js";
import { logSumExp } from "../recursions.js";
import { messageInto } from "../stage/inputs.js";
import { cellText } from "./cells.js";
import { standsBelow } from "./lattice_paths.js";

/** @import { Model, Sizes, Tables } from "../types.js" */
/** @import { LatticeNode, Parts } from "./lattice.js" */

const RADIUS = 14; // of a node with probability 1, in rows of any height
const MIN_RADIUS = 8;
const ROOM = 0.39; // share of a row's height
const LETTER = 6; // mean letter width of a note, in pixels at the smallest text size
const NOTED = 0.045; // smaller marginals and changes are not written beside the node
const DIGITS_HEIGHT = 0.72; // share of the text size

/** @param {Element} element @param {Parts} parts @param {number} t @param {number} k */
export function putAt(element, { xy, folded }, t, k) {
  set(element, "transform", `translate(${xy.x(t)} ${xy.y(k)})`);
  flag(element, { folded: folded(k) });
}

// A node of a built column.
/** @param {Parts} parts @param {number} t @param {number} k */
function nodeAt({ nodes }, t, k) {
  return /** @type {LatticeNode[]} */ (nodes[t])[k];
}

// The numbers of the nodes: null for marginals, else the scores being computed, the largest at each word, and their
// format.
/** @param {Model} model */
export function numbersOf(model) {
  const { nodes, results, tables, messages, T, K } = model;
  if (nodes === "marginals") return null;
  const arriving = messages && nodes === "alpha";
  const own = tables.find(({ name }) => name === nodes);
  const scores = arriving
    ? results.alpha.map((_, i) => messageInto(model, Math.floor(i / K), i % K))
    : (results[/** @type {keyof Tables} */ (nodes)] ?? own?.values);
  const columns = Array.from({ length: T }, (_, t) => scores.subarray(t * K, (t + 1) * K));
  const largest = columns.map((column) => Math.max(...column.filter((value) => value < Infinity)));
  const { kind, digits } = own ?? { kind: "score", digits: 1 };
  const sums = kind === "probability" ? columns.map(logSumExp) : null;
  /** @param {number} i */
  const text = (i) => {
    if (own?.written) return own.written.has(i) ? cellText(own, scores[i]) : "";
    if (kind === "score") return score(scores[i]);
    return cellText({ kind, digits }, Math.exp(scores[i] - (sums?.[Math.floor(i / K)] ?? 0)));
  };
  /** @param {number} i */
  const share = (i) =>
    Number.isFinite(scores[i]) ? Math.exp(scores[i] - largest[Math.floor(i / K)]) : Number(scores[i] === Infinity);
  return { name: nodes, scores, share, text };
}

/**
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {ReturnType<typeof numbersOf>} numbers
 */
export function drawNode(model, parts, t, k, numbers) {
  const { pins, words, tags, lit, results, sees, used } = model;
  const best = sees("path", t) && results.path?.[t] === k;
  const selected = model.cell[0] === t && model.cell[1] === k;
  const lights = lit?.t === t && Number(lit.shares.get(k)) >= 0.01;
  const pinned = pins.some(([at, tag]) => at === t && tag === tags[k]);
  const gold = model.reference === "gold" ? model.rows.find(({ id }) => id === "gold")?.tags : null;
  const wrong = best && Boolean(gold) && gold?.[t] !== k;
  const { group } = nodeAt(parts, t, k);
  const unused = Boolean(used) && !used?.tags[t].includes(k);
  flag(group, { lit: lights, pinned, best, wrong, unused });
  set(group, "tabindex", selected ? 0 : -1);
  const name = `${words[t]}: ${tags[k]}`;
  if (numbers) drawScore(model, parts, t, k, name, numbers);
  else drawMarginal(model, parts, t, k, name);
  const note = parts.columns.notes[t].inside[k];
  if (note) flag(note, { unused });
}

// The size is the share of the largest score at the word.
/**
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {string} name
 * @param {NonNullable<ReturnType<typeof numbersOf>>} numbers
 */
function drawScore(model, parts, t, k, name, numbers) {
  const { sizes, K } = model;
  const { group, dot, ring } = nodeAt(parts, t, k);
  const i = t * K + k;
  const [value, text] = [numbers.scores[i], numbers.text(i)];
  const radius = radiusOf(sizes)(value === -Infinity ? 0 : numbers.share(i));
  const below = turnsUp(model, parts, t, k, numbers);
  if (!changed(group, numbers.name, value, text, radius, below, parts.xy.way)) return;
  mark(group, "data-marginal", null);
  flag(group, { value: value === -Infinity ? "-inf" : value.toFixed(6) });
  set(group, "aria-label", Number.isNaN(value) ? `${name}, empty` : `${name}, ${numbers.name} ${score(value, 4)}`);
  set(dot, "r", radius.toFixed(2));
  if (ring) hide(ring);
  const y = radius * 0.55 + 3;
  drawNote(parts, t, k, text, { x: radius * 0.75 + 3, y: below ? y + DIGITS_HEIGHT * sizes.lengths.text : -y });
}

// Whether the best path rises from a node: its score then stands below the line, if the score of the next row has room.
/**
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {NonNullable<ReturnType<typeof numbersOf>>} numbers
 */
function turnsUp({ results: { path }, sees, T, K, sizes }, { xy, folded }, t, k, { share }) {
  if (!path || t === T - 1 || path[t] !== k || !sees("path", t) || xy.y(path[t + 1]) >= xy.y(k)) return false;
  const digits = DIGITS_HEIGHT * sizes.lengths.text;
  /** @param {number} tag */
  const height = (tag) => radiusOf(sizes)(share(t * K + tag)) * 0.55 + 3 + digits;
  const next = sizes.rowOf.indexOf(sizes.rowOf[k] + 1);
  const above = next < 0 ? 0 : folded(next) ? digits / 2 : height(next);
  return sizes.row >= height(k) + above;
}

// The row of the folded tags: how many there are, and the best score among them at each word.
/** @param {Model} model @param {Parts} parts @param {Iterable<number>} columns */
export function drawFolded(model, { rest, foldLabel, xy }, columns) {
  const { K, shown, sees, sizes } = model;
  const numbers = numbersOf(model);
  const folded = Array.from({ length: K }, (_, k) => k).filter((k) => !shown.has(k));
  setText(foldLabel, `+ ${folded.length} tags${numbers ? ": best" : ""}`);
  const drawn = numbers && folded.length ? [...columns].filter((t) => sees("nodes", t)) : [];
  fit(rest, drawn.length, () => svg("text.note-text", { "text-anchor": "middle" })).forEach((note, i) => {
    if (!numbers) return;
    const at = folded.map((k) => drawn[i] * K + k);
    setText(note, numbers.text(at.reduce((best, cell) => (numbers.scores[cell] > numbers.scores[best] ? cell : best))));
    setAll(note, { x: xy.x(drawn[i]), y: (sizes.rows - 0.5) * sizes.row + (DIGITS_HEIGHT / 2) * sizes.lengths.text });
  });
}

// The text beside a node; most nodes have none. It starts `x` pixels on in the reading direction, or ends there.
/**
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {string} text
 * @param {{ x: number, y: number, ends?: boolean }} place
 */
function drawNote(parts, t, k, text, { x, y, ends = false }) {
  const { way } = parts.xy;
  const { group, inside } = parts.columns.notes[t]; // array by tag, with gaps
  if (!inside[k]) {
    if (!text) return;
    inside[k] = svg("text.note-text");
    putAt(inside[k], parts, t, k);
    group.insertBefore(inside[k], inside.find((note, after) => note && after > k) ?? null);
  }
  setText(inside[k], text);
  const anchor = ends === way < 0 ? "start" : "end";
  setAll(inside[k], { "text-anchor": anchor, x: (way * x).toFixed(1), y: y.toFixed(1) });
}

// A ring of the trained size; none where the size is unchanged.
/** @param {LatticeNode} node @param {number | null} radius */
function drawRing(node, radius) {
  if (node.ring) hide(node.ring, radius === null);
  if (radius === null) return;
  if (!node.ring) {
    node.ring = svg("circle.ring");
    node.dot.before(node.ring);
  }
  set(node.ring, "r", radius.toFixed(2));
}

/** @param {Model} model @param {Parts} parts @param {number} t @param {number} k @param {string} name */
function drawMarginal(model, parts, t, k, name) {
  const node = nodeAt(parts, t, k);
  const { group, dot } = node;
  const i = t * model.K + k;
  const { marginal, sampled, before, change, noted } = shareOf(model, i);
  const { row, column, unit, lengths } = model.sizes;
  const free = t === model.T - 1 || !shareOf(model, i + model.K).noted; // the space of the next column
  const radius = radiusOf(model.sizes);
  const corner = { x: radius(Math.max(marginal, before)) * 0.75 + 3, y: radius(marginal) * 0.55 + 3 };
  const letters = { width: LETTER * unit * probability(marginal).length, height: DIGITS_HEIGHT * lengths.text };
  const below =
    noted &&
    hasRoomBelow(model, t, k, corner.y + letters.height) &&
    standsBelow(model, parts, t, k, { ...corner, ...letters });
  if (!changed(group, marginal, before, sampled, row, column, free, below, parts.xy.way)) return;
  flag(group, { value: false, marginal: marginal.toFixed(6) });
  set(group, "aria-label", `${name}, marginal ${marginal.toFixed(4)}`);
  set(dot, "r", radius(marginal).toFixed(2));
  drawRing(node, Math.abs(change) < 0.005 ? null : radius(before));
  const note = ` (${signed(change)})`;
  const fits = free || LETTER * unit * (probability(marginal) + note).length + radius(marginal) <= column;
  const changes = sampled === null && Math.abs(change) >= 0.005 && fits ? note : "";
  const share = sampled === null ? changes : ` | ${probability(sampled)}`;
  const atTheEdge = sampled !== null && t === model.T - 1; // two numbers are too wide for the last column
  const y = below ? corner.y + letters.height : -corner.y;
  const text = noted ? probability(marginal) + share : "";
  drawNote(parts, t, k, text, { x: atTheEdge ? 24 : corner.x, y, ends: atTheEdge });
}

// Whether two numbers fit between a node and the next row, or the next row has none; the last row has space for one.
/** @param {Model} model @param {number} t @param {number} k @param {number} needed */
function hasRoomBelow(model, t, k, needed) {
  const { row, rowOf } = model.sizes;
  const next = rowOf.indexOf(rowOf[k] + 1);
  return row >= 2 * needed || (next >= 0 && !shareOf(model, t * model.K + next).noted);
}

// The marginal of a node, its reference value, and whether the node has a number.
/** @param {Model} model @param {number} i */
function shareOf({ results, pile, ghost }, i) {
  const marginal = results.marginals[i];
  const sampled = pile?.drawn ? pile.uses[i] / pile.drawn : null; // the ring shows the samples, if there are any
  const before = sampled ?? (ghost && !pile ? ghost.marginals[i] : marginal);
  const change = marginal - before;
  return { marginal, sampled, before, change, noted: marginal >= NOTED || Math.abs(change) >= NOTED };
}

// The area of a node is its marginal.
/** @param {Sizes} sizes */
function radiusOf({ row, unit }) {
  const largest = clamp(ROOM * row, MIN_RADIUS, RADIUS * unit);
  /** @param {number} marginal */
  return (marginal) => 2 + (largest - 2) * Math.sqrt(marginal);
}
