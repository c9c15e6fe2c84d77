// The events for Python, and the editable cells: the number of a cell, and the event of a new number.

import { tagText } from "../link_text.js";
import { nameOf, tagsOf, weight } from "../model.js";
import { numbersOf, precise, preciseProbability, readProbability, readScore } from "../numbers.js";
import { opensAt } from "./visibility.js";

/** @import { CellHooks, Decoded, Model, Stage, StageEvent } from "../types.js" */

// The event that sets a page option.
/** @param {string} name @param {string} value @returns {StageEvent} */
export function view(name, value) {
  return { kind: "view", name, value };
}

// The event for a step of the walk; 0 for the page's default.
/** @param {Decoded} payload @param {number} step @returns {StageEvent & { kind: "step" }} */
export function stepEvent({ walk, T }, step) {
  return { kind: "step", value: walk && step === opensAt(walk, T) ? 0 : step || "start" };
}

// The event that makes word t with tag k the page's subject.
/** @param {Decoded} payload @param {number} t @param {number} k @returns {StageEvent} */
export function asking({ asks, tags }, t, k) {
  return asks === "right" ? { kind: "right", position: t, tag: tags[k] } : view(asks, placeText(t, tags[k]));
}

// A word and a tag as a page option.
/** @param {number} t @param {string} tag */
export function placeText(t, tag) {
  return `${t} ${tagText(tag)}`;
}

// The event that requests the ruler of a matrix cell; none if it is drawn or requested already.
/** @param {Stage} stage @param {HTMLElement | null} cell */
export function weightAsked({ payload, outbox }, cell) {
  const weight = movedBy(payload, cell).map(tagText).join(" ");
  if (payload.panels.side !== "matrix" || !weight || payload.ruler?.cell.join() === cell?.dataset.ends) return [];
  const asked = outbox.unanswered.findLast((event) => event.kind === "view" && event.name === "weight");
  return asked?.kind === "view" && asked.value === weight ? [] : [view("weight", weight)];
}

// The cell that makeEditable edits: a weight of the matrix ("from,to") or a score of a word.
// `stage` takes events and other actions; see lifecycle.js.
/** @param {Stage} stage @returns {CellHooks} */
export function cellHooks(stage) {
  return {
    value: (cell) => numberAt(stage.model, cell, "chain"),
    text: (cell) =>
      (isProbability(stage.model, cell) ? preciseProbability : precise)(numberAt(stage.model, cell, "chain")),
    read: (cell, typed) => (isProbability(stage.model, cell) ? readProbability : readScore)(typed),
    preview: (cell, value) =>
      stage.schedule({ preview: value === undefined ? null : eventOf(stage.model, cell, value), message: null }),
    // Sent with the ruler of its cell in one message: the browser's Back reverts both at once.
    commit: (cell, value) => {
      const asked = stage.frugal ? [] : weightAsked(stage, cell);
      const events = [eventOf(stage.model, cell, value), ...asked];
      stage.emit(events, { preview: null, message: null });
    },
    complain: (message) => stage.refresh({ message }),
  };
}

/** @param {Model} model @param {HTMLElement} cell @param {"chain" | "trained"} chain */
function numberAt(model, cell, chain) {
  const { t, k } = cell.dataset;
  const ends = endsOf(cell);
  return ends ? weight(model[chain], ...ends, model.into) : model[chain].emissions[Number(t) * model.K + Number(k)];
}

// The event that sets a cell to `value`; the trained value (or null) becomes a restore event.
/** @param {Model} model @param {HTMLElement} cell @param {number | null} value @returns {StageEvent} */
function eventOf(model, cell, value) {
  const ends = endsOf(cell);
  // the edit applies to every step, and the steps differ
  const many = model.perStep && ends && ends[0] >= 0 && ends[1] < model.K;
  const plain = value === null || (!many && value === numberAt(model, cell, "trained"));
  const score = value === -Infinity ? null : value;
  const [from, to] = movedBy(model, cell);
  if (ends) return plain ? { kind: "restore", from, to } : { kind: "transition", from, to, score };
  const place = { position: Number(cell.dataset.t), tag: tagsOf(model)[Number(cell.dataset.k)] };
  return plain ? { kind: "restore", ...place } : { kind: "emission", ...place, score };
}

// From and to of a matrix cell as names of original tags; empty for another cell.
/** @param {import("../types.js").Split} model @param {HTMLElement | null} cell */
function movedBy(model, cell) {
  return (cell && endsOf(cell)?.map((id) => nameOf(model, id))) ?? [];
}

// From and to of a matrix cell as ids, -1 for START and K for END; null for another cell.
/** @param {HTMLElement} cell */
function endsOf({ dataset: { ends } }) {
  return ends ? numbersOf(ends) : null;
}

/** @param {Model} model @param {HTMLElement} cell */
function isProbability(model, cell) {
  if (endsOf(cell)) return model.display === "probability";
  return model.tables.find((table) => table.name === cell.dataset.table)?.kind !== "score";
}
