// The model to draw: the payload, with edits that Python has not seen yet on top. Pure functions.

import { applyEdits, shownTags } from "../model.js";
import { clamp } from "../numbers.js";
import { solve } from "../recursions.js";
import { allCovered } from "./covers.js";
import { folds } from "./steps.js";

// Events that change numbers: those whose outcome is drawn before Python answers, and those that it alone can work out.
export const LIVE = new Set(["transition", "emission", "restore", "strength", "reset"]);
const PYTHONS = new Set(["undo", "redo", "constrained"]);

// `events` are those that wait for an answer, `chosen` is the reader's { preview, message, unfolded, into, covered },
// where the preview is an event under the hand and `unfolded` is null where the page decides; `before` holds the tags
// that were shown.
export function compose(payload, { events, chosen, before }) {
  const unseen = [...events, chosen.preview].filter((event) => LIVE.has(event?.kind));
  const live = unseen.length > 0;
  const edits = unseen.reduce((known, event) => withEvent(known, event, payload), payload.edits);
  const model = { ...payload, edits, live, message: chosen.message, into: stepWithin(payload, chosen.into) };
  model.waiting = live || events.some((event) => PYTHONS.has(event.kind));
  model.chain = payload.trained && applyEdits(payload, edits);
  if (live) Object.assign(model, resultsOf(payload, model.chain));
  model.covered = allCovered(chosen.covered);
  model.unfolded = chosen.unfolded ?? !folds(payload, chosen.step);
  model.shown = model.unfolded ? new Set(payload.tags.keys()) : foldedTags(model, { live, chosen, before });
  model.order = [...model.shown].sort((a, b) => a - b);
  model.payloadRows = model.rows;
  model.rows = model.rows.filter(({ id }) => !model.covered.has(id));
  return model;
}

// Tag ids that are drawn: under the hand those from before, so that no row and no cell moves until it lets go.
function foldedTags(model, { live, chosen, before }) {
  if (chosen.preview && before) return before;
  return shownTags(model, live ? before : undefined);
}

// What must be the same for a redraw to be enough; anything else builds the stage anew.
export function shapeOf({ words, tags, panels, tables, walk }) {
  return JSON.stringify([
    words,
    tags,
    panels,
    tables.map((table) => [table.name, table.editable]),
    Boolean(walk?.phases.length),
  ]);
}

// The word into which the matrix shows the step, within the sentence.
export function stepWithin({ T }, t) {
  return clamp(t, 1, T - 1);
}

// What the browser computes itself while Python has not answered yet; the ghost is what Python said last.
function resultsOf(payload, chain) {
  const { ghost } = payload;
  const solved = solve(chain);
  const rows = payload.rows.map((row) => {
    const tags = solved.rows[row.id];
    return tags === undefined ? row : { ...row, tags, trained: row.trained ?? (ghost ? null : row.tags) };
  });
  const { path, marginals } = payload.results;
  const results = { ...payload.results, ...solved, path: solved.rows.viterbi };
  return { results, rows, ghost: ghost ?? { path, marginals } };
}

// `edits` after one more event, without changing `edits`.
export function withEvent(edits, event, { tags }) {
  if (event.kind === "reset") return { transitions: new Map(), emissions: new Map(), strength: 1 };
  if (event.kind === "strength") return { ...edits, strength: event.value };
  const [name, key] =
    "position" in event
      ? ["emissions", `${event.position},${tags.indexOf(event.tag)}`]
      : ["transitions", `${event.from},${event.to}`];
  const cells = new Map(edits[name]);
  if (event.kind === "restore") cells.delete(key);
  else cells.set(key, event.score ?? -Infinity);
  return { ...edits, [name]: cells };
}
