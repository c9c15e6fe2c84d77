// Visibility of parts: at a step of a walk, and if the reader has hidden them. Pure functions;
// crfviz/views/stage/picture.py defines the steps of a picture; crfviz/ui/state/scenario.py keeps the parts
// in the link.

import { keysAsRead } from "../direction.js";
import { score } from "../numbers.js";

/** @import { Chosen, Composed, Decoded, PhaseData, Sight, WalkData } from "../types.js" */

// The state of a walk and the visible parts, apart from the covered ones:
// `steps`: { at, of, text, column, parts, choice }, null without a walk: the steps done and possible, the text of the
// last one, its word, the parts it reveals, and the reader's choice of node numbers.
// `sees(part, t)`: whether a part may be drawn at word t, or at any word.
// `open(part, t)`: the same regardless of steps: whether no open question hides the part.
/** @param {Composed} model @param {Pick<Chosen, "step" | "nodes">} chosen @returns {Sight} */
export function sightOf(model, { step, nodes }) {
  const { walk, T, covered } = model;
  const open = opening(model);
  if (!walk) return { steps: null, nodes: "marginals", open, sees: (part, t) => !covered.has(part) && open(part, t) };
  const of = lengthOf(walk, T);
  const at = Math.max(0, Math.min(step, of));
  const begun = begunBy(walk, T, at);
  /** @param {string} part */
  const hidden = (part) => covered.has(part) || walk.never.includes(part);
  /** @param {string} part @param {number} [t] */
  const sees = (part, t) => {
    if (hidden(part) || !open(part, t)) return false;
    if (at === of) return true;
    const phase = begun.findLast(({ parts }) => parts.includes(part));
    if (!phase) return false;
    return t === undefined || (t >= phase.from && t < phase.to);
  };
  const last = begun.at(-1);
  const choice = begun.findLast((phase) => phase.nodes.length)?.nodes ?? walk.phases[0]?.nodes ?? walk.nodes;
  return {
    sees,
    open,
    nodes: choice.includes(nodes) ? nodes : (choice[0] ?? "marginals"),
    steps: {
      at,
      of,
      choice,
      column: last?.column ?? null,
      parts: last?.parts ?? [],
      text: last ? textOf(model, last) : keysAsRead(walk.start, model.rtl),
    },
  };
}

/** @param {Pick<Composed, "withheld" | "T">} model @returns {Sight["open"]} */
function opening({ withheld = [], T }) {
  return (part, t) =>
    !withheld.some(
      ([name, from, to]) => name === part && (t === undefined ? from === 0 && to === T : t >= from && t < to),
    );
}

// The number of steps of a walk over T words.
/** @param {Pick<WalkData, "phases">} walk @param {number} T */
export function lengthOf({ phases }, T) {
  return phases.reduce((sum, { sweep }) => sum + (sweep ? T : 1), 0);
}

// The step at which a picture of T words opens.
/** @param {WalkData} walk @param {number} T */
export function opensAt(walk, T) {
  return walk.opens_done ? lengthOf(walk, T) : 0;
}

// The phases that have begun after `at` steps, each with its words so far and the newest one.
/** @param {WalkData} walk @param {number} T @param {number} at */
function begunBy({ phases }, T, at) {
  /** @type {Begun[]} */
  const begun = [];
  let left = at;
  for (const phase of phases) {
    const length = phase.sweep ? T : 1;
    if (left > 0) begun.push({ ...phase, ...reach(phase.sweep, Math.min(left, length), T) });
    left -= length;
  }
  return begun;
}

/**
 * @param {number} sweep
 * @param {number} done
 * @param {number} T
 * @returns {{ done: number, from: number, to: number, column: number | null }}
 */
function reach(sweep, done, T) {
  if (!sweep) return { done, from: 0, to: T, column: null };
  return sweep > 0 ? { done, from: 0, to: done, column: done - 1 } : { done, from: T - done, to: T, column: T - done };
}

/** @typedef {PhaseData & ReturnType<typeof reach>} Begun */

// The text of the newest step; braces are placeholders: see picture.py.
/** @param {Composed} model @param {Begun} phase */
function textOf({ T, offset = 0, total = T, words, tags, results }, { text, first, last, sweep, done, column }) {
  const atEdge = sweep > 0 ? offset === 0 : offset + T === total; // the window begins or ends with the sentence
  const template = (sweep && done === 1 && atEdge && first) || (sweep && done === T && last) || text;
  /** @param {number} t */
  const tag = (t) => tags[results.path?.[t] ?? -1] ?? "–";
  const t = column ?? -1;
  /** @type {Record<string, string | number>} */
  const known = {
    n: done,
    T,
    word: words[t],
    tag: tag(t),
    after: tag(t + 1),
    z: score(results.logPartition, 4),
  };
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => String(known[name]));
}

// Parts besides the rows that can be hidden: key and name.
/** @type {Record<string, [string, string]>} */
const OTHERS = {
  path: ["p", "best path"],
  note: ["n", "sentence"],
  score: ["s", "score line"],
  lattice: ["k", "lattice"],
};
// Parts that are hidden with another: the best path with its row, and all of the lattice.
/** @type {Record<string, string[]>} */
const WITH = { viterbi: ["path", "note", "score"], lattice: ["nodes", "pointers", "sums", "path"] };

// The parts of the page that can be hidden: [{ part, key, name }].
/** @param {Pick<Decoded, "rows" | "panels" | "note" | "title">} model */
export function partsOf({ rows, panels, note, title }) {
  const lattice = panels.main.includes("lattice");
  /** @type {Record<string, boolean>} */
  const exists = { path: lattice, note: note !== "", score: title === null, lattice };
  return [
    ...rows.flatMap(({ id, key, label }) => (key ? [{ part: id, key, name: label }] : [])),
    ...Object.entries(OTHERS).flatMap(([part, [key, name]]) => (exists[part] ? [{ part, key, name }] : [])),
  ];
}

// Returns the part that a key hides or shows on this page.
/** @param {Decoded} payload @param {string} key */
export function partOfKey(payload, key) {
  return partsOf(payload).find((each) => each.key === key)?.part;
}

// Returns `covered` with one part switched, as a new list.
/** @param {string[]} covered @param {string} part */
export function switched(covered, part) {
  return covered.includes(part) ? covered.filter((other) => other !== part) : [...covered, part];
}

// Returns all parts that are hidden.
/** @param {string[]} covered */
export function allCovered(covered) {
  return new Set(covered.flatMap((part) => [part, ...(WITH[part] ?? [])]));
}

// A legend without the marks that are hidden, and without step keys on pages without steps.
/** @type {Record<string, string>} */
const MARKS = { "thick line": "path", "red dashes": "viterbi" };

/** @param {Pick<Composed, "legend" | "covered" | "rtl">} model @param {boolean} [keys] */
export function legendOf({ legend, covered, rtl }, keys = true) {
  /** @param {string} part */
  const seen = (part) => part && !covered.has(MARKS[part.split(":")[0]]);
  const parts = legend.split(" · ").map((part) => (keys ? part : withoutKeys(part)));
  return parts
    .filter(seen)
    .map((part) => keysAsRead(part, rtl && part.includes("PageDown")))
    .join(" · ");
}

// A hint without its clauses about keys, for devices that have none.
const KEYS = /PageDown|Alt\+|Shift\+|\bDelete\b/;

/** @param {string} hint */
export function withoutKeys(hint) {
  /** @param {string} part */
  const rest = (part) =>
    part
      .split(", ")
      .filter((clause) => !KEYS.test(clause))
      .join(", ");
  return hint.split("; ").map(rest).filter(Boolean).join("; ");
}
