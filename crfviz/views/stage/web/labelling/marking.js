// The annotator's actions and their keys: moving the cursor, selecting, choosing tags, splitting and joining words.
// Each action is a function of the labelling.

import { all, closest } from "../dom.js";
import { source } from "../keyboard.js";
import { clamp } from "../numbers.js";
import { everywhereKey } from "./everywhere.js";
import { spanAt, wordBeside } from "./words.js";

/** @import { Labelling } from "../types.js" */

// First and last word that a key would change: the selection, or the entity or word under the cursor.
/** @param {Labelling} labelling @returns {[number, number]} */
export function selectionOf({ anchor, cursor, data }) {
  if (anchor !== null) return [Math.min(anchor, cursor), Math.max(anchor, cursor)];
  return data.bio ? spanAt(data.tags, cursor) : [cursor, cursor];
}

// Moves the cursor by words or lines; `extend` selects the words in between.
/** @param {Labelling} labelling @param {{ words?: number, lines?: number }} by @param {boolean} extend */
export function move(labelling, { words = 0, lines = 0 }, extend) {
  const { cursor, data, desk } = labelling;
  if (extend) labelling.anchor ??= cursor;
  const to = lines ? wordBeside(desk.sheet, cursor, lines) : cursor + words;
  goTo(labelling, clamp(to, 0, data.words.length - 1), extend);
}

// Returns the action that moves to the next uncertain word; null after the last one, where Tab leaves the labeller.
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

// Accepts the sentence; if a word has no tag or a dispute is open, moves there instead.
/** @param {Labelling} labelling */
export function accept(labelling) {
  const { blank, doubtful, versions } = labelling.data;
  const next = doubtful.find((t) => t > labelling.cursor) ?? doubtful[0];
  if ((blank || versions) && next !== undefined) goTo(labelling, next);
  else labelling.emit("accept");
}

// Handles the pointer on a chip, which `begins` or extends a selection; null when it is released.
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

// Sets a tag; without proposals the cursor moves to the next word, and `undo` moves it back.
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

// Moves the end of the entity under the cursor by a word, or its start. The cursor stays in the entity.
/** @param {Labelling} labelling @param {number} by @param {boolean} ofStart */
function resize(labelling, by, ofStart) {
  const { cursor, data } = labelling;
  const [first, last] = spanAt(data.tags, cursor);
  const [start, end] = ofStart ? [by, 0] : [0, by];
  labelling.emit("resize", { word: cursor, start, end });
  if (first + start <= last + end) goTo(labelling, clamp(cursor, first + start, last + end));
}

/** @param {Labelling} labelling */
function undo(labelling) {
  labelling.emit("undo");
  const before = labelling.tagged.pop();
  if (before !== undefined) goTo(labelling, before);
}

// Applies a version's tag of the word under the cursor, or its tags of the whole sentence.
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

// Switches between tagging words and splitting and joining them.
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

// Splits or joins at a boundary; the caret keeps its place in the text.
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

const DIGIT = /^(?:Digit|Numpad)([1-9])$/; // a key by its position: with Shift some keyboards produce other characters
const LETTER = /^\S$/; // letters, digits and punctuation, which can be disabled

// Keys while words are tagged.
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
  "?": (labelling) => labelling.emit("why", { word: labelling.cursor }),
};

// Keys for other sentences or words, which another app fixes.
const DESK_KEYS = ["/", "PageUp", "PageDown", "?"];

// Keys while words are split and joined.
/** @type {Record<string, (labelling: Labelling) => void>} */
const WORDS = {
  /** @param {Labelling} labelling */
  " ": (labelling) => change(labelling, labelling.boundary),
  Enter: (labelling) => change(labelling, labelling.boundary),
  Backspace: (labelling) => labelling.emit("undo"),
  "/": toggleWords,
  Escape: toggleWords,
};

// The action of a key; none for keys outside the labeller.
/** @param {Labelling} labelling @param {KeyboardEvent} event */
export function keysOf(labelling, event) {
  if (event.ctrlKey || event.metaKey || !labelling.data || !hears(labelling, event)) return null;
  if (event.altKey) return altKey(labelling, event);
  const elsewhere = labelling.words ? undefined : everywhereKey(labelling, event);
  if (elsewhere && (labelling.data.letters !== false || !LETTER.test(event.key))) {
    return () => labelling.idle(elsewhere);
  }
  if (labelling.data.letters === false && LETTER.test(event.key)) return null;
  if (event.repeat && event.key === "Enter") return () => {}; // holding a key down accepts only one sentence
  const act = labelling.words ? wordsKey(labelling, event) : tagsKey(labelling, event);
  return act && (() => labelling.idle(act));
}

// Alt+arrows grow and shrink the entity under the cursor; all other keys with Alt are the browser's.
/** @param {Labelling} labelling @param {KeyboardEvent} event */
function altKey(labelling, { key, shiftKey }) {
  const { data, words } = labelling;
  if (!["ArrowLeft", "ArrowRight"].includes(key) || words || !data.bio) return null;
  const { words: by = 0 } = inDirection(labelling, MOVES[key]);
  return () => labelling.idle(() => resize(labelling, by, shiftKey));
}

// Whether a key is for the labeller: no other control of the page has the focus.
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

// Converts a visual move into one by words: in a sentence from right to left the word on the left is the next one.
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
