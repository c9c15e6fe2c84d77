// What the annotator does, and the keys for it: moving the cursor, selecting, choosing tags, cutting and joining words.
// Each action is a function of the labelling.

import { all, closest } from "../dom.js";
import { source } from "../keyboard.js";
import { clamp } from "../numbers.js";
import { spanAt, wordBeside } from "./words.js";

/** @import { Labelling } from "../types.js" */

// First and last word that a key would change: what is selected, or the entity or word under the cursor.
/** @param {Labelling} labelling @returns {[number, number]} */
export function selectionOf({ anchor, cursor, data }) {
  if (anchor !== null) return [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  return data.bio ? spanAt(data.tags, cursor) : [cursor, cursor];
}

// Moves the cursor by words, or by lines; `extend` selects what it passes.
/** @param {Labelling} labelling @param {{ words?: number, lines?: number }} by @param {boolean} extend */
export function move(labelling, { words = 0, lines = 0 }, extend) {
  const { cursor, data, desk } = labelling;
  if (extend) labelling.anchor ??= cursor;
  const to = lines ? wordBeside(desk.sheet, cursor, lines) : cursor + words;
  goTo(labelling, clamp(to, 0, data.words.length - 1), extend);
}

// How to go to the next doubtful word in a direction; after the last one Tab goes where it always goes.
/** @param {Labelling} labelling @param {number} by @returns {(() => void) | null} */
export function toDoubtful(labelling, by) {
  const { cursor, data } = labelling;
  if (labelling.pending) return () => toDoubtful(labelling, by)?.();
  const ahead = data.doubtful.filter((t) => (by > 0 ? t > cursor : t < cursor));
  return ahead.length ? () => goTo(labelling, ahead.at(by > 0 ? 0 : -1) ?? cursor) : null;
}

/** @param {Labelling} labelling @param {number | null} anchor */
export function select(labelling, anchor) {
  labelling.anchor = anchor;
  labelling.draw();
}

// Accepts the sentence; while a word has no tag yet, or a dispute is open, goes to the next one.
/** @param {Labelling} labelling */
export function accept(labelling) {
  const { blank, doubtful, versions } = labelling.data;
  const next = doubtful.find((t) => t > labelling.cursor) ?? doubtful[0];
  if ((blank || versions) && next !== undefined) goTo(labelling, next);
  else labelling.emit("accept");
}

// The pointer is on a chip, and `begins` or goes on to select; null: it was let go.
/** @param {Labelling} labelling @param {PointerEvent | null} event @param {boolean} begins */
export function pointAt(labelling, event, begins) {
  if (!event) labelling.dragging = false;
  const chip = event && closest(event, ".chip");
  if (!chip || labelling.words || !(begins || labelling.dragging)) return;
  const position = Number(chip.dataset.word);
  const extend = !begins || event.shiftKey;
  if (!begins && position === labelling.cursor && labelling.anchor === null) return;
  if (begins) event.preventDefault();
  labelling.dragging = true;
  if (extend) labelling.anchor ??= labelling.cursor;
  goTo(labelling, position, extend);
}

// Sets a tag; without proposals the cursor goes on to the next word, and `undo` brings it back.
/** @param {Labelling} labelling @param {string} what */
export function choose(labelling, what) {
  const { advances, words } = labelling.data;
  const [first, last] = selectionOf(labelling);
  labelling.anchor = null;
  labelling.emit("correct", { first, last, what });
  if (!advances) return;
  labelling.tagged.push(first);
  goTo(labelling, Math.min(last + 1, words.length - 1));
}

/** @param {Labelling} labelling */
function undo(labelling) {
  labelling.emit("undo");
  const before = labelling.tagged.pop();
  if (before !== undefined) goTo(labelling, before);
}

// Takes what a version says of the word under the cursor, or of the whole sentence.
/** @param {Labelling} labelling @param {number} version @param {boolean} whole */
export function take(labelling, version, whole) {
  labelling.anchor = null;
  labelling.emit("take", { version, word: whole ? -1 : labelling.cursor });
}

// Chooses one of the likeliest tags.
/** @param {Labelling} labelling @param {number} rank */
export function chooseRank(labelling, rank) {
  const { ranked, choices } = labelling.data;
  const found = ranked[labelling.cursor]?.[rank];
  if (found) choose(labelling, choices[found[0]].name);
}

// Between tagging words and cutting and joining them.
/** @param {Labelling} labelling */
export function toggleWords(labelling) {
  Object.assign(labelling, { words: !labelling.words, boundary: 0 });
  labelling.draw(true);
  labelling.focus();
}

/** @param {Labelling} labelling @param {number} by */
export function moveCaret(labelling, by) {
  labelling.boundary = clamp(labelling.boundary + by, 0, boundaries(labelling).length - 1);
  labelling.draw();
  labelling.focus();
}

// Cuts or joins at a boundary; the caret stays at the same place of the text.
/** @param {Labelling} labelling @param {number} boundary */
export function change(labelling, boundary) {
  const element = boundaries(labelling)[boundary];
  if (!element) return;
  labelling.boundary = boundary;
  const [word, at] = [Number(element.dataset.of), Number(element.dataset.at)];
  if (at) labelling.emit("cut", { word, at });
  else labelling.emit("join", { word });
}

/** @param {Labelling} labelling */
function boundaries({ desk }) {
  return all(desk.sheet, "[data-boundary]");
}

/** @param {Labelling} labelling @param {number} position @param {boolean} [keepAnchor] */
function goTo(labelling, position, keepAnchor = false) {
  labelling.cursor = position;
  if (!keepAnchor) labelling.anchor = null;
  labelling.draw();
  labelling.focus();
}

/** @type {Record<string, { words?: number, lines?: number }>} */
const MOVES = {
  ArrowLeft: { words: -1 },
  ArrowRight: { words: 1 },
  ArrowUp: { lines: -1 },
  ArrowDown: { lines: 1 },
  Home: { words: -Infinity },
  End: { words: Infinity },
};
/** @type {Record<string, number>} */
const CARET = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -5, ArrowDown: 5 };

const DIGIT = /^(?:Digit|Numpad)([1-9])$/; // a key by its place: with Shift some keyboards have other signs there
const LETTER = /^\S$/; // letters, digits and signs, which may be switched off

// While words are tagged.
/** @type {Record<string, (labelling: Labelling) => void>} */
const TAGS = {
  Enter: accept,
  Backspace: undo,
  "/": toggleWords,
  Escape: (labelling) => select(labelling, null),
  /** @param {Labelling} labelling */
  " ": (labelling) => select(labelling, labelling.cursor),
  PageUp: (labelling) => labelling.emit("go", { by: -1 }),
  PageDown: (labelling) => labelling.emit("go", { by: 1 }),
};

// They lead to other sentences or words, and an app of somebody else has given these.
const DESK_KEYS = ["/", "PageUp", "PageDown"];

// While words are cut and joined.
/** @type {Record<string, (labelling: Labelling) => void>} */
const WORDS = {
  /** @param {Labelling} labelling */
  " ": (labelling) => change(labelling, labelling.boundary),
  Enter: (labelling) => change(labelling, labelling.boundary),
  Backspace: (labelling) => labelling.emit("undo"),
  "/": toggleWords,
  Escape: toggleWords,
};

// The action of a key; nothing for keys of other labellers.
/** @param {Labelling} labelling @param {KeyboardEvent} event */
export function keysOf(labelling, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !labelling.data || !hears(labelling, event)) return null;
  if (labelling.data.letters === false && LETTER.test(event.key)) return null;
  if (event.repeat && event.key === "Enter") return () => {}; // a key held down accepts one sentence
  const act = labelling.words ? wordsKey(labelling, event) : tagsKey(labelling, event);
  return act && (() => labelling.idle(act));
}

// Keys are meant for the labeller unless something else on the page has the focus.
/** @param {Labelling} labelling @param {KeyboardEvent} event */
function hears({ root }, event) {
  const target = source(event);
  const presses = target.matches("button") && ["Enter", " "].includes(event.key);
  return target === document.body || (event.composedPath().includes(root) && !presses);
}

/** @param {Labelling} labelling @param {KeyboardEvent} event */
function tagsKey(labelling, { key, shiftKey, code }) {
  const version = Number(DIGIT.exec(code)?.[1]) - 1;
  if (labelling.data.versions && version >= 0) {
    return version < labelling.data.versions.names.length && (() => take(labelling, version, shiftKey));
  }
  if (key === "Tab") return toDoubtful(labelling, shiftKey ? -1 : 1);
  if (key in MOVES) return () => move(labelling, inDirection(labelling, MOVES[key]), shiftKey);
  if (labelling.guest && DESK_KEYS.includes(key)) return null;
  if (key in TAGS) return () => TAGS[key](labelling);
  if (/^[1-9]$/.test(key)) return () => chooseRank(labelling, Number(key) - 1);
  const choice = labelling.data.choices.find((option) => option.key && option.key === key.toLowerCase());
  return choice && (() => choose(labelling, choice.name));
}

// A move by words as it is drawn: in a sentence from right to left the word on the left is the next one.
/** @param {Labelling} labelling @param {{ words?: number, lines?: number }} by */
function inDirection({ data }, by) {
  return data.rtl && Math.abs(by.words ?? 0) === 1 ? { words: -Number(by.words) } : by;
}

/** @param {Labelling} labelling @param {KeyboardEvent} event */
function wordsKey(labelling, { key }) {
  const turned = labelling.data.rtl && ["ArrowLeft", "ArrowRight"].includes(key) ? -1 : 1;
  if (key in CARET) return () => moveCaret(labelling, turned * CARET[key]);
  return key in WORDS && (() => WORDS[key](labelling));
}
