// What the reader switched off, part by part. Pure functions; crfviz/ui/state/covers.py keeps them in the link.

const KEYS = {
  w: "greedy",
  l: "left_to_right",
  v: "viterbi",
  m: "max_marginal",
  g: "gold",
  p: "path",
  n: "note",
  s: "score",
};
const NAMES = { path: "best path", note: "sentence", score: "score line" };
const ABOUT_VITERBI = ["path", "note", "score"]; // speak of the best path, and go with its row

// The parts of the page that can be switched off: [{ part, key, name }].
export function partsOf({ rows, panels, note, title }) {
  const there = { path: panels.main.includes("lattice"), note: note !== "", score: title === null };
  return Object.entries(KEYS).flatMap(([key, part]) => {
    const name = part in NAMES ? there[part] && NAMES[part] : rows.find(({ id }) => id === part)?.label;
    return name ? [{ part, key, name }] : [];
  });
}

// The part that a key switches on this page.
export function partOfKey(payload, key) {
  return partsOf(payload).find((each) => each.key === key)?.part;
}

// `covered` with one part switched, as a new list.
export function switched(covered, part) {
  return covered.includes(part) ? covered.filter((other) => other !== part) : [...covered, part];
}

// Everything that is not to be seen.
export function allCovered(covered) {
  return new Set(covered.includes("viterbi") ? [...covered, ...ABOUT_VITERBI] : covered);
}
