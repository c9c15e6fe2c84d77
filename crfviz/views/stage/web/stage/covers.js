// What the reader switched off, part by part. Pure functions; crfviz/ui/state/covers.py keeps them in the link.

/** @import { Composed, Decoded } from "../types.js" */

const KEYS = {
  w: "greedy",
  l: "left_to_right",
  v: "viterbi",
  m: "max_marginal",
  g: "gold",
  p: "path",
  n: "note",
  s: "score",
  k: "lattice",
};
/** @type {Record<string, string>} */
const NAMES = { path: "best path", note: "sentence", score: "score line", lattice: "lattice" };
// What goes with a part: what speaks of the best path with its row, and all that the lattice draws.
/** @type {Record<string, string[]>} */
const WITH = { viterbi: ["path", "note", "score"], lattice: ["nodes", "pointers", "sums", "path"] };

// The parts of the page that can be switched off: [{ part, key, name }].
/** @param {Pick<Decoded, "rows" | "panels" | "note" | "title">} model */
export function partsOf({ rows, panels, note, title }) {
  const lattice = panels.main.includes("lattice");
  /** @type {Record<string, boolean>} */
  const there = { path: lattice, note: note !== "", score: title === null, lattice };
  return Object.entries(KEYS).flatMap(([key, part]) => {
    const name = part in NAMES ? there[part] && NAMES[part] : rows.find(({ id }) => id === part)?.label;
    return name ? [{ part, key, name }] : [];
  });
}

// The part that a key switches on this page.
/** @param {Decoded} payload @param {string} key */
export function partOfKey(payload, key) {
  return partsOf(payload).find((each) => each.key === key)?.part;
}

// `covered` with one part switched, as a new list.
/** @param {string[]} covered @param {string} part */
export function switched(covered, part) {
  return covered.includes(part) ? covered.filter((other) => other !== part) : [...covered, part];
}

// Everything that is not to be seen.
/** @param {string[]} covered */
export function allCovered(covered) {
  return new Set(covered.flatMap((part) => [part, ...(WITH[part] ?? [])]));
}

// A legend without the marks that are switched off, by the words that it has for them, and without the keys of steps
// where there are none.
/** @type {Record<string, string>} */
const MARKS = { "thick line": "path" };

/** @param {Pick<Composed, "legend" | "covered">} model @param {boolean} [keys] */
export function legendOf({ legend, covered }, keys = true) {
  /** @param {string} part */
  const seen = (part) => !covered.has(MARKS[part.split(":")[0]]) && (keys || !part.includes("PageDown"));
  const parts = legend.split(" · ").filter(seen);
  return parts.join(" · ");
}
