// How the picture shares its height: strips, rows of the lattice and of tables, matrices below them, and the frame in
// which rows scroll. In pixels; constants refer to the smallest text size, unless stated otherwise.

import { clamp } from "../numbers.js";
import { GRAPH } from "../parts/graph.js";
import { BELOW_STAGE } from "./heights.js";
import { SHEET } from "./sheet.js";
import { heightOfMatrices, LARGE_TAGS, placeOfNote, TARGET } from "./widths.js";

/** @import { Panels, Table } from "../types.js" */
/** @import { Laid, Setting } from "./layout.js" */
/** @import { Widths } from "./columns.js" */

const TALLEST = 100; // maximum row of models with few tags, and of pictures with few rows; twice that in a lecture
const FEW_ROWS = 10; // maximum number of rows that fill the height
const WORDS = 40; // the words and margins
const LINE = 19; // of a legend, and of a line over a table
const CAPTION = 7; // margins of a line over a table
const LETTER = 6; // mean letter width
const STEPPER = 46;
const GRAPH_MARGIN = 10;
const LEGENDS = 90; // in a lecture, legends are below the visible part
const TWICE = 385; // everything around two lattices on a page
const MAX_HELD = 100; // strips that stay visible under a table
const MIN_FRAME = 260; // a scrolling frame: otherwise the page scrolls
const SEEN_BELOW = 1 / 5; // visible share of matrices below the words; the page scrolls to the rest
const MATRIX_SHARE_BELOW = 0.4; // share of the height for matrices below the words
const FORMULA = 2 * LINE; // a long formula above the inputs of a cell
const MIN_LISTED = 4; // minimum number of listed inputs
const ENTITY = 104; // an entity's rows, and its panel without the list of rivals
const [ONE_LINE, SECOND_LINES] = [90, 14]; // column width for one line of words, and the height of further lines
const [MIN_RIVALS, EVERY_RIVAL] = [78, 9999]; // minimum height of that list, and a height that never scrolls

// Heights of a row of tags and of a row of texts over the words: the usual ones, and lower ones if the rows below the
// words have too little space.
/** @typedef {{ tags: number, texts: number }} Strips */
/** @type {Strips[]} */
export const STRIPS = [
  { tags: 31, texts: 22 },
  { tags: 25, texts: 20 },
  { tags: TARGET, texts: 20 },
];

// A close layout: minimum row height (0 for the default), and the height saved between and around rows.
/** @typedef {{ least: number, rows: number, around: number }} Saved */
/** @type {Record<"usual" | "close" | "aboveMatrices", Saved>} */
export const SAVED = {
  usual: { least: 0, rows: 0, around: 0 },
  close: { least: 15, rows: 32, around: 21 },
  aboveMatrices: { least: 0, rows: 15, around: 19 },
};

// Heights around the rows of a panel beside the words, and of each row.
/** @type {Record<string, { around: number, row: number }>} */
const PANELS = {
  matrix: { around: 190, row: SHEET.matrixRow },
  cell: { around: 155, row: 17.5 },
  bars: { around: 70, row: 24 },
};

/**
 * What is drawn above, between and below the rows, in pixels unless stated otherwise.
 * @typedef {object} Parts
 * @property {number} strip of a row of tags over the words
 * @property {number} plain of a row of texts over the words
 * @property {number} strips of all such rows
 * @property {number} graphs at the smallest text size
 * @property {number} around of the top line, words, graphs, buttons and legend, at the smallest text size
 * @property {number} matrices of those below the words, 0 without
 * @property {{ beside: number, above: number }} note width and height of a note, one of them 0
 * @property {number} outside height that the page leaves for the stage
 */
/**
 * What some tables leave for the rows.
 * @typedef {object} Space
 * @property {number} tables their number
 * @property {number} captions height of the lines over them, at the smallest text size
 * @property {number} free height for the rows, in pixels
 */
/**
 * @typedef {object} Rows
 * @property {number} row height of each, in pixels
 * @property {number} rows their number in the lattice
 * @property {number} drawn their number in the lattice and all tables
 * @property {number[]} rowOf row of each tag; folded tags share the last one
 */

/**
 * All heights. First what is fixed, then whether the tables are left out, how close the layout is, and the rows.
 * @param {Setting} setting
 * @param {Widths} widths
 * @param {Strips} low
 */
export function heightsIn(setting, widths, low) {
  const { model, unit, note } = setting;
  const parts = partsIn(setting, widths, low);
  const every = model.tables.filter(({ name }) => model.panels.main.includes(name));
  const withTables = spaceIn(setting, widths, parts, every);
  const alone = standsAlone(setting, withTables);
  const space = alone ? spaceIn(setting, widths, parts, []) : withTables;
  const saved = savedIn(setting, parts, space);
  const withLast = alone ? parts.strips + note : 0; // height that the last step adds with the tables
  const free = space.free + unit * (saved.rows + saved.around) + withLast;
  const rows = rowsIn(setting, { free, tables: space.tables, saved });
  const shared = shareWithMatrices(setting, rows, { free, matrices: parts.matrices });
  const inside = unit * (parts.graphs + space.captions + WORDS - saved.rows) + (alone ? 0 : parts.strips);
  const inFrame = shared.room + inside;
  const framed = isFramed(setting, shared, { inFrame, matrices: parts.matrices });
  const held = framed && parts.strips <= MAX_HELD * unit;
  return { ...parts, matrices: shared.matrices, alone, saved, free, rows, inFrame, framed, held };
}

/** @param {Setting} setting @param {Widths} widths @param {Strips} low @returns {Parts} */
function partsIn(setting, { unitBelow, matrix }, low) {
  const { model, width, height, top, scale, unit, shown, below, stacked, lecture } = setting;
  const { main, side } = model.panels;
  const graphs = main.reduce((sum, name) => sum + (name in GRAPH ? GRAPH[name] + GRAPH_MARGIN : 0), 0);
  const note = placeOfNote(side, { width, shown, matrix, unit: unitBelow, note: setting.note, stacked });
  return {
    ...stripsIn(model, low, unit),
    graphs,
    around: SHEET.topline + WORDS + graphs + aroundWalk(setting),
    matrices: below ? heightOfMatrices(shown, unitBelow) : 0,
    note,
    outside: height - top - BELOW_STAGE[lecture ? "lecture" : "page"] * scale - note.above,
  };
}

// Heights of a row of tags, a row of texts, and all of them.
/** @param {Laid} model @param {Strips} low @param {number} unit */
function stripsIn({ rows, panels, heading, K }, low, unit) {
  const { tags, texts } = panels.side === "entity" ? { ...low, tags: STRIPS[1].tags } : low;
  const compact = K <= LARGE_TAGS ? [22, 18] : [26, 20]; // large letters have enough space around them
  const [strip, plain] = (panels.compact ? compact : [heading.length ? 25 : tags, texts]).map((size) => size * unit);
  const every = panels.main.includes("strips") ? rows : [];
  return { strip, plain, strips: every.reduce((sum, row) => sum + (row.texts ? plain : strip), 0) };
}

// Height of the overview of a long sentence, the step buttons, and the legend, which a lecture omits.
/** @param {Setting} setting */
function aroundWalk({ model: { walk, legend, T, total }, width, unit, lecture }) {
  const strip = total > T ? SHEET.overview : 0;
  return strip + (walk?.phases.length ? STEPPER : 0) + (lecture ? 0 : LINE * linesIn(legend, width / unit));
}

/** @param {Setting} setting @param {Widths} widths @param {Parts} parts @param {Table[]} tables @returns {Space} */
function spaceIn({ model, unit }, { room, label, lefts }, { outside, around, matrices, strips }, tables) {
  const width = Math.min(room + label, label + lefts[model.T]) / unit;
  const captions = tables.reduce((sum, { label: text }) => sum + CAPTION + LINE * linesIn(text, width), 0);
  return { tables: tables.length, captions, free: outside - unit * (around + captions) - matrices - strips };
}

// Lines of a text in `width` pixels at the smallest text size.
/** @param {string} text @param {number} width */
function linesIn(text, width) {
  return Math.ceil((text.length * LETTER) / width);
}

// Whether only the lattice fits. During the walk its nodes then show the numbers of the tables.
/** @param {Setting} setting @param {Space} space */
function standsAlone({ model: { panels, walking, covered }, shown, unit }, { free, tables }) {
  if (!walking || !tables || !panels.main.includes("lattice") || covered.has("lattice")) return false;
  return free < shown * (tables + 1) * limits(panels, true, tables, false)[0] * unit;
}

// Returns how much closer the layout is: above matrices, and for a lattice with several tables if the rows or the panel
// beside them have too little space.
/** @param {Setting} setting @param {Parts} parts @param {Space} space */
function savedIn(setting, { strips }, { free, tables, captions }) {
  const { panels, walking } = setting.model;
  const { below, stacked, shown, unit } = setting;
  if (below && !stacked) return SAVED.aboveMatrices;
  if (walking || stacked || tables < 2 || !panels.main.includes("lattice")) return SAVED.usual;
  // The part of the panel's height that must fit beside the rows.
  const panelAbove = unit * (heightBeside(setting) + FORMULA) - (strips + unit * (captions + WORDS));
  const [least] = limits(panels, true, tables, false);
  return free < Math.max(panelAbove, (shown * (tables + 1) + 1) * least * unit) ? SAVED.close : SAVED.usual;
}

// The height of a panel beside the words, at the smallest text size.
/** @param {Setting} setting */
function heightBeside({ model: { K }, side, shown, lecture }) {
  const { around, row } = (side && PANELS[side]) ?? { around: 0, row: 0 };
  if (side === "cell" && lecture) return around;
  return around + row * (side === "matrix" ? shown + 1 : K);
}

/** @param {Setting} setting @param {{ free: number, tables: number, saved: Saved }} space @returns {Rows} */
function rowsIn({ model, height, below, unit, stacked, lecture }, { free, tables, saved }) {
  const { panels, shown, order, K } = model;
  const lattice = panels.main.includes("lattice");
  const rows = shown.size + (lattice && shown.size < K ? 1 : 0);
  const twice = panels.compact && lattice;
  const drawn = (lattice ? rows : 0) + shown.size * tables;
  const ideal = twice ? (height - unit * TWICE) / 2 / rows : free / (drawn || 1);
  const rowOf = Array.from({ length: K }, (_, k) => (shown.has(k) ? order.indexOf(k) : shown.size));
  const [least, usual] = limits(panels, lattice, tables, below);
  const fills = drawn <= FEW_ROWS && !panels.compact && !stacked;
  const most = K <= LARGE_TAGS || fills ? (lecture ? 2 : 1) * TALLEST : usual;
  // Low rows are allowed if the panel beside them also reaches their cells; touch on a phone needs larger rows.
  const dense = twice || (lattice && tables > 0 && !stacked);
  const row = Math.floor(clamp(ideal, Math.max(dense ? 0 : TARGET, (saved.least || least) * unit), most * unit));
  return { row, rows, drawn, rowOf };
}

// The minimum and the default maximum height of a row.
/** @param {Panels} panels @param {boolean} lattice @param {number} tables @param {boolean} below */
function limits({ compact }, lattice, tables, below) {
  if (compact) return lattice ? [18, 22] : [19, 21];
  if (lattice) return [below ? 16 : tables ? 17 : 22, 36];
  return [tables > 1 ? 19 : 21, 32];
}

// Heights that the rows need and have, and the height of the matrices below: both scroll if the space is too small.
/** @param {Setting} setting @param {Rows} rows @param {{ free: number, matrices: number }} space */
function shareWithMatrices({ model: { panels }, height, unit }, { row, rows, drawn }, { free, matrices }) {
  const needed = row * drawn;
  if (panels.compact && panels.main.includes("lattice")) {
    return { needed: row * rows, room: (height - unit * TWICE) / 2, matrices };
  }
  if (matrices === 0 || needed <= free) return { needed, room: free, matrices };
  const both = free + matrices;
  const least = Math.min(matrices, Math.max(MATRIX_SHARE_BELOW * both, both - needed));
  return { needed, room: both - least, matrices: least };
}

// Whether the rows scroll in a frame: they, the matrices below or the panel beside them are too high, and the frame is
// high enough.
/**
 * @param {Setting} setting
 * @param {{ needed: number, room: number, matrices: number }} shared
 * @param {{ inFrame: number, matrices: number }} heights of the frame, and of matrices that do not scroll
 */
function isFramed(setting, shared, { inFrame, matrices }) {
  const { below, stacked, unit } = setting;
  const lacking = shared.needed - shared.room + matrices - shared.matrices;
  const unseen = below ? (1 - SEEN_BELOW) * matrices : unit * LEGENDS; // height that may be below the window
  const tooTall = lacking > unseen || inFrame < unit * (heightBeside(setting) - LEGENDS);
  return !stacked && tooTall && inFrame >= MIN_FRAME * unit;
}

// The number of inputs of a cell that fit into its panel.
/** @param {Setting} setting @param {{ inFrame: number, framed: boolean }} heights */
export function listedIn({ height, top, unit }, { inFrame, framed }) {
  const { around, row } = PANELS.cell;
  const room = Math.min(height - top - unit * (SHEET.topline + STEPPER), framed ? inFrame : Infinity);
  return Math.max(MIN_LISTED, Math.floor((room - unit * around) / (unit * row)));
}

// The height at which the list of rivals scrolls; if it is too small, the page scrolls.
/** @param {Setting} setting @param {number} free @param {number} column */
export function rivalsIn({ stacked, unit }, free, column) {
  const room = free / unit - ENTITY - (column / unit < ONE_LINE ? SECOND_LINES : 0);
  return (stacked || room < MIN_RIVALS ? EVERY_RIVAL : Math.floor(room)) * unit;
}
