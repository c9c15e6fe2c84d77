// How the picture shares its width: labels, the panel beside the words, and the columns of the words. In pixels.

import { clamp } from "../numbers.js";
import { END_HALF, END_WIDTH, NUMBER } from "../parts/lattice_paths.js";
import { SHEET } from "./sheet.js";
import {
  labelWidth,
  leastColumn,
  MIN_MATRIX,
  matrixCell,
  panelWidth,
  unitOfMatrices,
  WORD_MARGIN,
  wordWidths,
} from "./widths.js";

/** @import { Laid, Setting } from "./layout.js" */

// Widths at the smallest text size.
const BESIDE = 54; // of a number beside a node of the last column
const BESIDE_CHANGED = 102; // of such a number with its change in brackets
const NUMBERS = 55; // of a column of numbers in place of row labels
export const WIDEST = 150; // maximum of a column; in a lecture few words have twice as much
export const NARROW = 64; // narrower columns have smaller margins

const MIN_WORDS = 4; // minimum number of visible columns
const MIN_BESIDE_PANEL = 500; // width that a panel and the labels take at most, to estimate columns
const ROUNDING = 2; // pixels that may stay empty
const LARGER = 1.43; // size of words relative to other texts, where they fit

/**
 * All widths, in pixels.
 * @typedef {object} Widths
 * @property {number} label of the row labels
 * @property {number[]} words of each word with its margins, at the size of other texts
 * @property {number} unitBelow text size of matrices below the words, relative to the smallest one
 * @property {number} matrix of a matrix cell
 * @property {number} panel of the panel beside the words, 0 without one
 * @property {boolean} cut whether this panel scrolls
 * @property {number} room for the columns
 * @property {number} edge of what is beside the last column
 * @property {number[]} columns of each word's column
 * @property {number[]} lefts where columns begin, and where the last one ends
 */

/**
 * @param {Setting} setting
 * @param {number} bar width of a vertical scroll bar, 0 without one
 * @returns {Widths}
 */
export function widthsIn(setting, bar) {
  const { model, width, text, unit, shown, below, side, lecture, digit } = setting;
  const label = labelsIn(setting);
  const least = leastColumn(model, setting.name) * unit;
  const words = wordWidths(model, setting.words, text);
  const wanted = words.map((word) => clamp(word, least, WIDEST * unit));
  const unitBelow = unitOfMatrices({ width, shown, unit, digit });
  const beforeMatrix = label + sum(wanted) - least / 2 + SHEET.gap + BESIDE * unit;
  const matrix = matrixCell(model, { width, shown, below, unit: unitBelow, words: beforeMatrix, digit });
  const whole = panelWidth(side, shown, matrix, unit);
  const panel = side === "matrix" ? Math.min(whole, mostOfMatrix({ width, label, least, unit })) : whole;
  const room = width - panel - (panel ? SHEET.gap : 0) - label - ROUNDING - bar;
  const beside = model.panels.main.includes("lattice") ? widthBeside(model) * unit : 0;
  const { edge, columns } = columnsAndEdge(wanted, { room, least, most: (lecture ? 2 : 1) * WIDEST * unit, beside });
  return { label, words, unitBelow, matrix, panel, cut: panel < whole, room, edge, columns, lefts: endsOf(columns) };
}

// The size of words that fit their columns, relative to other texts: at most LARGER.
/** @param {Widths} widths */
export function sizeOfWords({ words, columns }) {
  const fitting = words.map((word, t) => (columns[t] - WORD_MARGIN) / (word - WORD_MARGIN));
  return clamp(Math.min(...fitting), 1, LARGER);
}

/** @param {Setting} setting */
function labelsIn({ model, width, side, unit }) {
  if (model.heading.length) return unit * NUMBERS * model.heading.length;
  const tight = Boolean(side) && (width - MIN_BESIDE_PANEL) / model.T < NARROW;
  return labelWidth(model.rows, side, tight, unit);
}

// The maximum width of a matrix beside the words: it leaves MIN_WORDS columns.
/** @param {Record<"width" | "label" | "least" | "unit", number>} room */
function mostOfMatrix({ width, label, least, unit }) {
  return Math.max(Math.floor(width - SHEET.gap - label - MIN_WORDS * least), MIN_MATRIX * unit);
}

// Width beside the last column, at the smallest text size: of its numbers, and of END where Viterbi draws it.
/** @param {Laid} model */
function widthBeside({ ghost, walk }) {
  if (ghost) return BESIDE_CHANGED;
  return walk?.phases.some(({ nodes }) => nodes.includes("best")) ? NUMBER + END_WIDTH + END_HALF : BESIDE;
}

// Widths of the columns, and the width that numbers need after the last one: they begin in its middle.
/** @param {number[]} wanted @param {{ room: number, least: number, most: number, beside: number }} limits */
function columnsAndEdge(wanted, { room, least, most, beside }) {
  let edge = 0;
  let columns = columnsOf(wanted, { room, least, most });
  for (let i = 0; i < 2; i++) {
    edge = clamp(beside - columns[columns.length - 1] / 2, 0, beside);
    columns = columnsOf(wanted, { room: room - edge, least, most });
  }
  return { edge, columns };
}

// Widths of the columns: equal, except for words that need more; the others share the rest. If not all words fit,
// those that need more share the space beyond the minimum widths.
/** @param {number[]} wanted @param {{ room: number, least: number, most: number }} limits */
function columnsOf(wanted, { room, least, most }) {
  const over = wanted.map((width) => width - least);
  const spare = room - wanted.length * least;
  if (spare > 0 && sum(over) > spare) return over.map((more) => Math.floor(least + (more * spare) / sum(over)));
  let [left, count] = [room, wanted.length];
  for (const width of [...wanted].sort((a, b) => b - a)) {
    if (width <= left / count || count === 1) break;
    [left, count] = [left - width, count - 1];
  }
  const level = Math.floor(clamp(left / count, least, most));
  return wanted.map((width) => Math.max(level, Math.floor(width)));
}

// The left ends of adjacent columns, and the right end of the last one.
/** @param {number[]} columns */
function endsOf(columns) {
  const ends = [0];
  for (const width of columns) ends.push(ends[ends.length - 1] + width);
  return ends;
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
