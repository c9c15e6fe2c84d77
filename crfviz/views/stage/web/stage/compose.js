// Composes the model to draw from the payload, the edits that Python has not applied yet, the chosen cell and the step.
// Pure functions.

import { runsRightToLeft } from "../direction.js";
import { applyEdits, movesOf, placesOf, shownTags, underRule, writtenAt } from "../model.js";
import { clamp } from "../numbers.js";
import { solve } from "../recursions.js";
import { chainIn, solutionIn } from "../windows.js";
import { litOf, tiesOf } from "./inputs.js";
import { allCovered, sightOf } from "./visibility.js";

/** @import {
 *   Cell, Chain, Chosen, Composed, Decoded, Edits, Path, Selection, Sight, Split, StageEvent
 * } from "../types.js" */

// Events that change numbers: those drawn before Python responds, and those that only Python can compute.
export const LIVE = new Set(["transition", "emission", "restore", "strength", "reset"]);
const PYTHONS = new Set(["undo", "redo", "constrained"]);

// `events` are the unacknowledged ones; `chosen` is the reader's { preview, message, unfolded, into, covered }, where
// `preview` is the event of the current drag and `unfolded` is null if the reader has not chosen; `before` holds the
// tags drawn before.
/**
 * @param {Decoded} payload
 * @param {{ events: StageEvent[], chosen: Chosen, before?: Set<number> }} now
 * @returns {Composed}
 */
export function compose(payload, { events, chosen, before }) {
  const unseen = [...events, ...(chosen.preview ? [chosen.preview] : [])].filter((event) => LIVE.has(event.kind));
  const live = unseen.length > 0;
  const edits = unseen.reduce((known, event) => withEvent(known, event, payload), payload.edits);
  const edited = live && payload.base ? applyEdits(payload, edits) : payload.edited;
  const covered = allCovered(chosen.covered);
  const model = {
    ...payload,
    ...(live ? resultsOf(payload, edited) : {}),
    edits,
    live,
    edited,
    chain: edited && chainIn(edited, payload),
    covered,
    direction: chosen.direction,
    rtl: runsRightToLeft(chosen.direction, payload.rtl),
    message: chosen.message,
    into: stepWithin(payload, chosen.into),
    waiting: live || events.some((event) => PYTHONS.has(event.kind)),
    unfolded: chosen.unfolded ?? false,
  };
  const shown = model.unfolded ? new Set(payload.tags.keys()) : foldedTags(model, { live, chosen, before });
  return {
    ...model,
    shown,
    order: [...shown].sort((a, b) => a - b),
    payloadRows: model.rows,
    rows: model.rows.filter(({ id }) => !covered.has(id)),
  };
}

// The ids of drawn tags: during a drag those drawn before, so that no row and no cell moves.
/**
 * @param {Parameters<typeof shownTags>[0]} model
 * @param {{ live: boolean, chosen: Chosen, before?: Set<number> }} now
 */
function foldedTags(model, { live, chosen, before }) {
  if (chosen.preview && before) return before;
  return shownTags(model, live ? before : undefined);
}

// Returns a key: if it is unchanged, a redraw suffices; otherwise the stage is rebuilt.
/** @param {Decoded} payload */
export function shapeOf({ words, tags, panels, tables, walk, guest }) {
  return JSON.stringify([
    words,
    tags,
    panels,
    tables.map((table) => [table.name, table.editable]),
    Boolean(walk?.phases.length),
    Boolean(guest?.fixed),
  ]);
}

// The word of the displayed step of the matrix, limited to the sentence.
/** @param {{ T: number }} payload @param {number} t */
export function stepWithin({ T }, t) {
  return clamp(t, 1, T - 1);
}

// Results that the browser computes until Python responds, compared with Python's last response as the ghost.
/** @param {Decoded} payload @param {Chain} chain */
function resultsOf(payload, chain) {
  const { ghost } = payload;
  const all = solve(chain);
  const solved = solutionIn(all, payload);
  const rows = payload.rows.map((row) => {
    if (row.id === "rule") return underRule(row, chain, payload, solved.score);
    const tags = /** @type {Record<string, Path>} */ (solved.rows)[row.id];
    return tags === undefined ? row : { ...row, tags, trained: row.trained ?? (ghost ? null : row.tags) };
  });
  const { path, marginals } = payload.results;
  const results = { ...payload.results, ...solved, path: solved.rows.viterbi };
  return { results, rows, ghost: ghost ?? { path, marginals }, solved: payload.solved && all };
}

// Returns the edits after one more event, as a new object.
/** @param {Edits} edits @param {StageEvent} event @param {Split} payload */
export function withEvent(edits, event, payload) {
  if (event.kind === "reset") return { transitions: new Map(), emissions: new Map(), strength: 1 };
  if (event.kind === "strength") return { ...edits, strength: event.value };
  if (event.kind !== "restore" && event.kind !== "transition" && event.kind !== "emission") return edits;
  const [name, keys] =
    "position" in event
      ? /** @type {const} */ (["emissions", placesOf(payload, event.position, event.tag)])
      : /** @type {const} */ (["transitions", movesOf(payload, event.from, event.to)]);
  const cells = new Map(edits[name]);
  for (const key of keys) {
    if (event.kind === "restore") cells.delete(key);
    else if ("score" in event) cells.set(key, event.score ?? -Infinity);
  }
  return { ...edits, [name]: cells };
}

const SWEPT = ["nodes", "alpha", "beta", "marginals"]; // the parts to which a cell belongs

/** @param {Composed} model @param {Chosen} chosen @returns {Selection} */
export function selection(model, chosen) {
  const { T, K, panels } = model;
  const sight = sightOf(model, chosen);
  const { steps, sees, open, nodes } = sight;
  const walking = steps !== null && steps.at < steps.of;
  /** @param {number} t */
  const seen = (t) => !walking || SWEPT.some((part) => sees(part, t));
  const { cell, survivor } = chosen;
  const given = cell && cell[0] < T && cell[1] < K && seen(cell[0]) ? cell : null;
  const here = given ?? (walking ? null : model.asked) ?? firstCell(model, sight, walking);
  const summed = steps?.column === null && sees("z"); // the sum of the whole last column
  const reading = walking ? { kind: summed ? "z" : nodes, temperature: 1 } : chosen.reading;
  return {
    ...sight,
    walking,
    cell: here,
    survivor: survivor && open("cell") && seen(survivor[0]) ? survivorOf(model, survivor[0], survivor[1]) : null,
    reading,
    ties: panels.side === "cell" && sees("pointers") ? tiesOf(model).filter(([t]) => sees("pointers", t)) : [],
    lit: panels.side === "cell" && open("cell") && seen(here[0]) ? litOf(model, reading, here[0], here[1]) : null,
    tables: model.tables.map((table) => writtenAt(table, model, steps?.of ? steps.at : Infinity)),
  };
}

// The tag of word t, or the best tag at that word.
/** @param {Pick<Composed, "results" | "K">} model @param {number} t */
export function tagAt({ results, K }, t) {
  if (results.path) return results.path[t];
  return largestAt(results.best ?? results.marginals, K, t);
}

// The default cell: at the word of the walk, on the best path if that is visible, else at a tag that reveals
// nothing.
/** @param {Composed} model @param {Sight} sight @param {boolean} walking @returns {Cell} */
function firstCell(model, { steps, sees }, walking) {
  const { T, K, results } = model;
  if (walking) {
    const t = steps?.column ?? 0;
    return [t, sees("path", t) ? tagAt(model, t) : largestAt(results.best ?? results.marginals, K, t)];
  }
  const t = steps?.column ?? Math.min(1, T - 1);
  return [t, (results.path ?? model.rows[0]?.tags ?? [])[t] ?? 0];
}

/** @param {Float64Array} table @param {number} K @param {number} t */
function largestAt(table, K, t) {
  let best = 0;
  for (let k = 1; k < K; k++) if (table[t * K + k] > table[t * K + best]) best = k;
  return best;
}

// The tags on the best prefix that ends in (t, k).
/** @param {Composed} model @param {number} t @param {number} k */
function survivorOf({ results, K }, t, k) {
  const tags = [k];
  for (let i = t; i > 0; i--) tags.unshift(results.backpointers[i * K + tags[0]]);
  return tags.includes(-1) ? null : tags;
}
