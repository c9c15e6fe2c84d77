// Actions of the user other than edits: pointing, stepping, selecting. Each is a function of the stage.

import { closest } from "../dom.js";
import { tagText } from "../link_text.js";
import { clamp } from "../numbers.js";
import { stepWithin, tagAt } from "./compose.js";
import { asking, placeText, stepEvent, view, weightAsked } from "./events.js";
import { KINDS } from "./inputs.js";
import { switched } from "./visibility.js";

/** @import { Reading, Span, Stage, StageEvent, Steps, Way } from "../types.js" */

const REST = 250; // milliseconds of focus until the page's subject changes
const CELL_REST = 600; // milliseconds of focus until the link contains the explained cell
const EXPLAINING = ["cell", "bars"]; // side panels about one cell
const STEP_REST = 400; // milliseconds until Python gets the step

// Moves by steps; Python gets the step after the last key. Beyond the ends it `turns` the page.
/** @param {Stage} stage @param {number} by @param {boolean} [turns] */
export function go(stage, by, turns = false) {
  const { at, of } = /** @type {Steps} */ (stage.model.steps);
  const next = clamp(at + by, 0, of);
  if (next === at) return turns && turn(stage, by > 0 ? "next" : "previous");
  forget(stage, "cell");
  stage.reselect({ step: next, cell: null });
  showStep(stage);
  const rest = stage.payload.panels.main.length ? STEP_REST : 0; // without a picture Python draws the step
  stage.walked(stepEvent(stage.payload, next).value);
  later(stage, "step", rest, () => stage.emit([stepEvent(stage.payload, next)]));
}

// Scrolls to the part that the step reveals.
/** @param {Stage} stage */
function showStep({ model, frame, sizes }) {
  const { column, parts } = /** @type {Steps} */ (model.steps);
  if (column === null) return frame.bringPartsIntoSight(parts, model);
  frame.bringIntoSight(column, sizes);
  frame.bringRowIntoSight([column, model.cell[1]], sizes);
}

// Sets the numbers of the lattice's nodes, if the walk leaves a choice.
/** @param {Stage} stage @param {string} nodes */
export function showOnNodes(stage, nodes) {
  forget(stage, "step");
  stage.emit([stepEvent(stage.payload, stage.chosen.step), view("nodes", nodes)], { nodes });
}

// Unfolds all tags, or folds those without mass into one row.
/** @param {Stage} stage @param {boolean} unfolded */
export function unfold(stage, unfolded) {
  stage.emit([view("folded", unfolded ? "no" : "yes")], { unfolded });
}

// Sets the direction of the columns: left to right, right to left, or that of the sentence.
/** @param {Stage} stage @param {string} direction */
export function turnColumns(stage, direction) {
  stage.emit([view("direction", direction)], { direction });
}

// Hides a part of the page, or shows it.
/** @param {Stage} stage @param {string} part */
export function switchPart(stage, part) {
  const covered = switched(stage.chosen.covered, part);
  stage.emit([{ kind: "cover", parts: covered }], { covered });
}

// Disables or enables the single-letter keys of the picture and of the page.
/** @param {Stage} stage */
export function switchLetters(stage) {
  stage.payload.letters = !stage.payload.letters; // effective from the next key
  stage.emit([view("no_letters", stage.payload.letters ? "0" : "1")]);
}

// Opens the next or previous page, once even after a double press. A pending step is sent with the event.
/** @param {Stage} stage @param {Way} way */
function turn(stage, way) {
  if (stage.beyond(way) || stage.outbox.unanswered.some(({ kind }) => kind === "page")) return;
  const step = stage.timers.step ? [stepEvent(stage.payload, stage.chosen.step)] : [];
  forget(stage, "step");
  stage.emit([...step, { kind: "page", value: way }]);
}

// Moves the chosen cell by some words and rows.
/** @param {Stage} stage @param {number} words @param {number} rows */
export function move(stage, words, rows) {
  const { cell, order, T } = stage.model;
  const [t, k] = cell;
  const [column, row] = [clamp(t + words, 0, T - 1), order.indexOf(k) + rows];
  const next = order[clamp(row, 0, order.length - 1)];
  select(stage, column, next);
  stage.frame.bringIntoSight(column, stage.sizes);
  stage.frame.bringRowIntoSight([column, next], stage.sizes);
}

// Makes a place the page's subject once the keyboard focus has rested there.
/** @param {Stage} stage @param {number} t @param {number} k @param {number} [milliseconds] */
export function ask(stage, t, k, milliseconds = 0) {
  forget(stage, "ask");
  const { asks, asked } = stage.payload;
  if (!asks || (asked?.[0] === t && asked[1] === k)) return;
  later(stage, "ask", milliseconds, () => stage.emit([asking(stage.payload, t, k)]));
}

// Requests the ruler of the focused matrix cell; null if no cell has the focus.
/** @param {Stage} stage @param {HTMLElement | null} cell */
export function askWeight(stage, cell) {
  forget(stage, "weight");
  if (stage.frugal || weightAsked(stage, cell).length === 0) return;
  later(stage, "weight", REST, () => {
    const events = weightAsked(stage, cell);
    if (events.length) stage.emit(events);
  });
}

// Requests the origin of the emission of word t.
/** @param {Stage} stage @param {number} t */
export function askEmission(stage, t) {
  stage.emit([view("because", `${t}`)]);
}

// Chooses an entity.
/** @param {Stage} stage @param {Span} span */
export function askEntity(stage, [label, first, last]) {
  stage.emit([view("entity", `${first} ${last} ${tagText(label)}`)]);
}

// Shows the step into word t in the matrix.
/** @param {Stage} stage @param {number} t */
export function stepInto(stage, t) {
  stage.refresh({ into: stepWithin(stage.payload, t) });
}

// Explains the tag of a word below the picture, or closes the explanation; only the app has one.
/** @param {Stage} stage @param {HTMLElement | null} word */
export function explainWord(stage, word) {
  const t = word?.dataset.t;
  if (t !== undefined && stage.payload.letters !== undefined) stage.emit([view("word", t)]);
}

// Sets the strength of the CRF, while its slider moves and when it is `done`; `clear` drops all earlier edits.
/** @param {Stage} stage @param {number} value @param {boolean} done @param {boolean} [clear] */
export function setStrength(stage, value, done, clear = false) {
  /** @type {StageEvent} */
  const event = { kind: "strength", value };
  if (done) stage.emit(clear ? [{ kind: "reset" }, event] : [event], { preview: null });
  else stage.schedule({ preview: event });
}

/** @param {Stage} stage @param {Partial<Reading>} how */
export function readAs(stage, how) {
  stage.reselect({ reading: { ...stage.chosen.reading, ...how } });
  if (how.kind) stage.emit([view("panel", how.kind)]);
}

// Handles pointing at a node of the lattice; t is null when the pointer leaves.
/** @param {Stage} stage @param {number | null} t @param {number | null} k @param {string} kind */
export function pointAtNode(stage, t, k, kind) {
  const { asks, panels } = stage.payload;
  const clicked = kind === "click";
  if (t === null || k === null) return stage.reselect({ survivor: null });
  if (clicked && panels.side === "matrix") stepInto(stage, t);
  if (clicked && asks) return ask(stage, t, k);
  if (!clicked && panels.side === "cell") return stage.reselect({ survivor: [t, k] });
  return select(stage, t, k);
}

// Handles pointing at a cell above or below the words.
/** @param {Stage} stage @param {Event} event */
export function pointAtCell(stage, event) {
  const { t: word, k: tag, table } = closest(event, "[data-t]")?.dataset ?? {};
  if (word === undefined) return;
  const { model, chosen } = stage;
  const { side } = stage.payload.panels;
  const over = event.type === "pointerover";
  const t = Number(word);
  if (side === "matrix" && event.type === "click") stepInto(stage, t);
  const sends = event.type === "click" || !stage.frugal;
  if (!over && tag && sends) ask(stage, t, Number(tag), event.type === "click" ? 0 : REST);
  const k = Number(tag ?? (chosen.cell?.[0] === t ? chosen.cell[1] : tagAt(model, t)));
  if (side === "bars" && !sends) stage.reselect({ cell: [t, k], survivor: [t, k] });
  else if (side === "bars" && (stage.frugal || String(chosen.cell) !== String([t, k]))) select(stage, t, k);
  if (side !== "cell" || over || !tag) return;
  select(stage, t, k);
  if (table && table in KINDS && chosen.reading.kind !== table) readAs(stage, { kind: table });
}

// Cancels the delayed action of this name.
/** @param {Stage} stage @param {string} name */
export function forget({ timers }, name) {
  clearTimeout(timers[name]?.timer);
  timers[name] = null;
}

// Before the page is left: sends a pending step and drops other pending events. Returns whether it sent one.
/** @param {Stage} stage */
export function leave(stage) {
  const { step } = stage.timers;
  for (const name of Object.keys(stage.timers)) forget(stage, name);
  step?.act();
  return Boolean(step);
}

/** @param {Stage} stage @param {number} t @param {number} k */
function select(stage, t, k) {
  stage.reselect({ cell: [t, k], survivor: [t, k] });
  const { panels, tags, chosen } = stage.payload;
  if (!EXPLAINING.includes(panels.side ?? "") || String(chosen) === String([t, k])) return forget(stage, "cell");
  later(stage, "cell", CELL_REST, () => stage.emit([view("chosen", placeText(t, tags[k]))]));
}

/** @param {Stage} stage @param {string} name @param {number} milliseconds @param {() => void} act */
function later(stage, name, milliseconds, act) {
  forget(stage, name);
  const timer = setTimeout(() => {
    stage.timers[name] = null;
    act();
  }, milliseconds);
  stage.timers[name] = { timer, act };
}
