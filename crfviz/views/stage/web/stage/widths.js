// Widths of texts and of elements that fit their text: words, labels, numbers in cells and matrices. In pixels.

import { charactersOf } from "../dom.js";
import { clamp, score } from "../numbers.js";
import { cellText } from "../parts/cells.js";
import { SHEET } from "./sheet.js";

/** @import { Chain, Numbers, Row, Side, Table } from "../types.js" */
/** @import { Laid } from "./layout.js" */

export const TEXT = 14; // the smallest text size, to which the following widths refer
export const LARGE_TAGS = 6; // models with at most this number of tags have larger texts
const DIGIT = 7; // width of a digit
const AIR = 3; // space between measured numbers
const CAPITAL = 9; // width of a letter in a tag name
export const TARGET = 24; // pixels at any text size: the minimum distance of click targets, see WCAG 2.2, 2.5.8
const PANEL = 330; // width of a panel beside the words
export const MIN_MATRIX = 270; // required by the controls under a small matrix
const MATRIX_SHARE = 0.47; // of the stage's width, if its numbers fit
const BELOW = { head: 62, label: 70 }; // matrices under the words
const MIN_NOTE = 170; // minimum width of a note beside these matrices
const MESSAGE = 11; // characters of a message such as PROPN −12
const NODE = 8; // characters of a large node with −12.3 beside it
const MIN_COLUMN = 44;
const [SHORT_NUMBER, LONG_NUMBER] = [4, 5]; // characters: −0.5 and +0.28
const COUNT_NUMBER = 4.5; // +0.28 in digits: a point is half as wide
const MEASURED_COUNT = 5.15; // and in mean characters of −0.0, as measured
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;
const NAME_MARGIN = 9; // margins and borders of a tag in a narrow column
export const NAME = 6; // letters of a tag that are always visible, as in B-MISC
const LONGEST = 10; // characters of a cell that are always visible
export const STACKED = 640; // stages narrower than this have their panel under the words
export const GUEST_STACKED = 760; // the column of a Streamlit app has 704
const MEAN_LETTER = 0.58; // mean letter width in em, if words were not measured
export const WORD_MARGIN = 7; // margins of a word, and rounding

// Lines of a text that breaks between words wherever it exceeds `room`.
/** @param {string} text @param {(text: string) => number} widthOf @param {number} room */
export function linesOf(text, widthOf, room) {
  let [lines, line] = [1, ""];
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    const fits = !line || widthOf(longer) <= room;
    line = fits ? longer : word;
    lines += fits ? 0 : 1;
  }
  return lines;
}

// Widths that fit the tags' names and the numbers, in pixels at the smallest text size; `name` is the measured width of
// the longest name in em, which differs between the fonts of hosts.
/** @param {Laid} model @param {number} [name] */
export function leastColumn({ rows, tables, tags, panels, chain, walk, K }, name = 0) {
  const strips = panels.main.includes("strips") ? rows : [];
  const names = strips.some((row) => row.tags) ? tags : [];
  const letters = Math.min(NAME, Math.max(0, ...names.map(lettersOf)));
  const texts = strips.flatMap((row) => row.texts ?? []);
  const digits = [
    ...texts,
    ...tables.filter(({ name }) => panels.main.includes(name)).flatMap((table) => widest(table, chain)),
  ];
  const numbered = panels.main.includes("lattice") && walk?.phases.some(({ nodes }) => nodes.length);
  if (numbered && K <= LARGE_TAGS) digits.push("0".repeat(NODE)); // smaller texts fit beside their nodes
  if (panels.main.includes("graph")) digits.push("0".repeat(MESSAGE));
  const longest = Math.min(LONGEST, Math.max(0, ...digits.map(digitsOf)));
  const measured = letters ? TEXT * name + NAME_MARGIN : 0;
  return Math.max(MIN_COLUMN, CAPITAL * letters + 6, measured, DIGIT * longest + 6);
}

// The width of a name in letters; a Chinese character counts as one and a half.
/** @param {string} name */
function lettersOf(name) {
  return charactersOf(name).reduce((sum, character) => sum + (WIDE.test(character) ? 1.5 : 1), 0);
}

// The width of a text in digits; a point counts as half.
/** @param {string} text */
function digitsOf(text) {
  return text.length - (text.includes(".") ? 0.5 : 0);
}

// The longest numbers of a table, as formatted in its cells.
/** @param {Table} table @param {Chain} chain */
function widest(table, chain) {
  if (table.kind === "exponent") return ["0".repeat(LONGEST - 1)]; // such as 1.234e-10
  return extremes(table.values ?? chain.emissions).map((value) => cellText(table, value));
}

// The least and the largest finite number.
/** @param {...Numbers} tables */
function extremes(...tables) {
  let [least, most] = [Infinity, -Infinity];
  for (const table of tables) {
    for (const value of table) {
      if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
  }
  return least <= most ? [least, most] : [];
}

// The scale of matrices below the words: if their numbers do not fit side by side, they have smaller texts than the
// page, down to the minimum.
/** @param {Record<"width" | "shown" | "unit" | "digit", number>} room */
export function unitOfMatrices({ width, shown, unit, digit }) {
  if (width < STACKED) return unit;
  const needed = BELOW.label + countWidth(digit) * (shown + 1);
  return clamp((width - SHEET.between) / 2 / needed, 1, unit);
}

/** @param {number} shown @param {number} unit */
export function heightOfMatrices(shown, unit) {
  return unit * BELOW.head + Math.max(unit * SHEET.rowBelow, TARGET) * (shown + 1);
}

// The width of a cell with a count, at the smallest text size.
/** @param {number} digit */
function countWidth(digit) {
  return Math.max(DIGIT * COUNT_NUMBER, TEXT * digit * MEASURED_COUNT) + 1;
}

// The width of a matrix cell: its numbers, and more if the words leave space.
/**
 * @param {Laid} model
 * @param {Record<"width" | "shown" | "unit" | "words" | "digit", number> & { below: boolean }} room
 */
export function matrixCell({ chain, display, order, K }, { width, shown, below, unit, words, digit }) {
  if (!chain) return 0;
  const [from, to] = [chain.start, chain.end].map((scores) => order.map((k) => scores[k]));
  /** @param {Float64Array} matrix */
  const shownOf = (matrix) => order.flatMap((j) => order.map((k) => matrix[j * K + k]));
  const transitions = chain.transitions.length > K * K ? chain.transitions : shownOf(chain.transitions);
  const texts = extremes(transitions, from, to).map((value) => score(value));
  const widest = Math.max(SHORT_NUMBER, ...texts.map((text) => text.length));
  const letters = display === "probability" ? LONG_NUMBER : widest;
  if (below) {
    const each = width < STACKED ? width : (width - SHEET.between) / 2; // on a phone they are one above the other
    const least = unit * countWidth(digit);
    return clamp(Math.floor((each - unit * BELOW.label) / (shown + 1)), least, Math.max(least, 35 * unit));
  }
  const least = unit * Math.max(DIGIT * letters + 1, TEXT * digit * letters + AIR);
  const share = Math.min(MATRIX_SHARE * width, width - words) - unit * SHEET.matrixLabel;
  return Math.floor(clamp(share / (shown + 1), least, 38 * unit));
}

// The place of a note: the width that two matrices below the words leave `beside` them, if it is large enough, or else
// its height `above` them.
/**
 * @param {Side | null} side
 * @param {Record<"width" | "shown" | "matrix" | "unit" | "note", number> & { stacked: boolean }} room
 */
export function placeOfNote(side, { width, shown, matrix, unit, note, stacked }) {
  const left = width - 2 * (unit * BELOW.label + (shown + 1) * matrix + SHEET.between);
  const fits = side === "gradient" && !stacked && left >= MIN_NOTE * unit;
  return fits ? { beside: Math.floor(left), above: 0 } : { beside: 0, above: note };
}

/** @param {Side | null} side @param {number} shown @param {number} matrix @param {number} unit */
export function panelWidth(side, shown, matrix, unit) {
  if (side === "matrix") return Math.max(MIN_MATRIX * unit, SHEET.matrixLabel * unit + (shown + 1) * matrix);
  return side && side !== "entity" ? PANEL * unit : 0; // an entity's panel is below the words
}

// The width of labels, by the number of letters in the longest one.
/** @param {Row[]} rows @param {Side | null} side @param {boolean} tight @param {number} unit */
export function labelWidth(rows, side, tight, unit) {
  const letters = Math.max(0, ...rows.map((row) => [row.label, row.value].filter(Boolean).join("  ").length));
  return unit * (tight ? clamp(6 + 7 * letters, 84, 150) : clamp(10 + 7 * letters, side ? 104 : 112, 160));
}

// The width of each word at a text size; `ems` if they were measured.
/** @param {Laid} model @param {number[] | undefined} ems @param {number} text */
export function wordWidths({ words }, ems, text) {
  return (ems ?? words.map(({ length }) => MEAN_LETTER * length)).map((em) => em * text + WORD_MARGIN);
}
