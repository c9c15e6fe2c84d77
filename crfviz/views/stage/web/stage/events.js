// The events for Python, and the editable cells: the number of a cell, and the event of a new number.

import { END, START, tagsOf, weight } from "../model.js";
import { precise, preciseProbability, readProbability, readScore } from "../numbers.js";
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
  return asks === "right" ? { kind: "right", position: t, tag: tags[k] } : view(asks, `${t} ${tags[k]}`);
}

// The event that requests the ruler of a matrix cell; none if it is drawn or requested already.
/** @param {Stage} stage @param {string | undefined} cell */
export function weightAsked({ payload, outbox }, cell) {
  const weight = movedBy(payload, cell).join(" ").trim();
  if (payload.panels.side !== "matrix" || !weight || weight === payload.ruler?.weight.join(" ")) return [];
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
      const asked = stage.frugal ? [] : weightAsked(stage, cell.dataset.cell);
      const events = [eventOf(stage.model, cell, value), ...asked];
      stage.emit(events, { preview: null, message: null });
    },
    complain: (message) => stage.refresh({ message }),
  };
}

/** @param {Model} model @param {HTMLElement} cell @param {"chain" | "trained"} chain */
function numberAt(model, cell, chain) {
  const { t, k, cell: names } = cell.dataset;
  if (!names) return model[chain].emissions[Number(t) * model.K + Number(k)];
  const [from, to] = names.split(",");
  return weight(model[chain], model.tags, from, to, model.into);
}

// The event that sets a cell to `value`; the trained value (or null) becomes a restore event.
/** @param {Model} model @param {HTMLElement} cell @param {number | null} value @returns {StageEvent} */
function eventOf(model, cell, value) {
  const [from, to] = movedBy(model, cell.dataset.cell);
  // the edit applies to every step, and the steps differ
  const many = model.perStep && to && from !== START && to !== END;
  const plain = value === null || (!many && value === numberAt(model, cell, "trained"));
  const score = value === -Infinity ? null : value;
  if (to) return plain ? { kind: "restore", from, to } : { kind: "transition", from, to, score };
  const place = { position: Number(cell.dataset.t), tag: tagsOf(model)[Number(cell.dataset.k)] };
  return plain ? { kind: "restore", ...place } : { kind: "emission", ...place, score };
}

// From and to of a matrix cell, as original tags.
/** @param {import("../types.js").Split} model */
function movedBy(model, cell = "") {
  return cell.split(",").map((tag) => tagsOf(model)[model.tags.indexOf(tag)] ?? tag);
}

/** @param {Model} model @param {HTMLElement} cell */
function isProbability(model, cell) {
  if (cell.dataset.cell) return model.display === "probability";
  return model.tables.find((table) => table.name === cell.dataset.table)?.kind !== "score";
}
