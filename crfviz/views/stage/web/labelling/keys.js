// What the keys of a page do to its labeller.

import { source } from "../keyboard.js";
import { change, choose, chooseRank, move, moveCaret, select, toDoubtful, toggleWords } from "./labels.js";

/** @import { Labelling } from "../types.js" */

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

const LETTER = /^\S$/; // letters, digits and signs, which may be switched off

// While words are tagged.
/** @type {Record<string, (labelling: Labelling) => void>} */
const TAGS = {
  Enter: (labelling) => labelling.emit("accept"),
  Backspace: (labelling) => labelling.emit("undo"),
  "/": toggleWords,
  Escape: (labelling) => select(labelling, null),
  /** @param {Labelling} labelling */
  " ": (labelling) => select(labelling, labelling.cursor),
  PageUp: (labelling) => labelling.emit("go", { by: -1 }),
  PageDown: (labelling) => labelling.emit("go", { by: 1 }),
};

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

// What to do for a key, or nothing where it is not meant for this labeller.
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
function tagsKey(labelling, { key, shiftKey }) {
  if (key === "Tab") return toDoubtful(labelling, shiftKey ? -1 : 1);
  if (key in MOVES) return () => move(labelling, MOVES[key], shiftKey);
  if (key in TAGS) return () => TAGS[key](labelling);
  if (/^[1-9]$/.test(key)) return () => chooseRank(labelling, Number(key) - 1);
  const choice = labelling.data.choices.find((option) => option.key && option.key === key.toLowerCase());
  return choice && (() => choose(labelling, choice.name));
}

/** @param {Labelling} labelling @param {KeyboardEvent} event */
function wordsKey(labelling, { key }) {
  if (key in CARET) return () => moveCaret(labelling, CARET[key]);
  return key in WORDS && (() => WORDS[key](labelling));
}
