// Sizes that use the available space: all words side by side down to a minimum width, all rows above the fold.
// A pure function of the model and the window; the style sheet does the rest. In pixels unless stated otherwise.

import { clamp } from "../numbers.js";
import { GRAPH } from "../parts/graph.js";
import { END_HALF, END_WIDTH, NUMBER } from "../parts/lattice_paths.js";
import {
  heightOfMatrices,
  LARGE_TAGS,
  labelWidth,
  leastColumn,
  MIN_MATRIX,
  matrixCell,
  panelWidth,
  placeOfNote,
  STACKED,
  TARGET,
  TEXT,
  unitOfMatrices,
  WORD_MARGIN,
  wordWidths,
} from "./widths.js";

/** @import { Model, Panels, Side, Table } from "../types.js" */

const LARGE = 20; // text size of models with few tags
const TALLEST = 100; // maximum row height of such models, and of pictures with few rows; twice that in a lecture
const FEW_ROWS = 10; // maximum number of rows that fill the height
const BESIDE = 54; // width of a number beside a node of the last column
const BESIDE_CHANGED = 102; // width of such a number with its change in brackets
const GAP = 16; // between the words and the panel beside them
// Height under the stage; in a lecture the text of a step may take a second line.
export const BELOW_STAGE = { page: 45, lecture: 38 };
const TOPLINE = 26;
const AROUND = TOPLINE + 40; // height of the top line, the words and margins
const STRIP = { tags: 31, texts: 22 }; // rows of tags over the words
const LOW_STRIP = { tags: 25, texts: 20 }; // if the rows below the words have too little space
const LOWEST_STRIP = { tags: TARGET, texts: 20 }; // if they still have too little space
const MAX_HELD = 100; // height of strips that stay visible under a table
const TWICE = 385; // height of everything around two lattices on a page
const STEPPER = 46;
const OVERVIEW = 52; // the strip over a window of a long sentence
const LINE = 19; // height of a legend line, and of a line over a table
const LETTER = 6; // mean letter width
const CAPTION = 7; // margins of a line over a table
// A close layout: minimum row height (0 for the default), and the height saved between and around rows.
const CLOSE = { least: 15, rows: 32, around: 21 };
// The close layout above matrices.
const CLOSE_ABOVE = { least: 0, rows: 15, around: 19 };
const USUAL = { least: 0, rows: 0, around: 0 };
/** @type {Record<string, { around: number, row: number }>} */
const BESIDE_HEIGHTS = {
  matrix: { around: 190, row: 25.2 },
  cell: { around: 155, row: 17.5 },
  bars: { around: 70, row: 24 },
};
const FORMULA = 2 * LINE; // height of a long formula above the inputs of a cell
const MIN_LISTED = 4; // minimum number of listed inputs
const GRAPH_MARGIN = 10;
const NUMBERS = 55; // width of a column of numbers in place of row labels
const MIN_TALL = 200; // height of words that scroll vertically
const MIN_FRAME = 260; // minimum height of a scrolling frame: otherwise the page scrolls
const BAR = 12; // width of a scroll bar
const ENTITY = 104; // height of an entity's rows, and of its panel without the list of rivals
const [ONE_LINE, SECOND_LINES] = [90, 14]; // column width for one line of words, and the height of further lines
const [MIN_RIVALS, EVERY_RIVAL] = [78, 9999]; // minimum height of that list, and a height that never scrolls
const LEGENDS = 90; // in a lecture, legends are below the visible part
const SEEN_BELOW = 1 / 5; // visible share of matrices below the words; the page scrolls to the rest
const MATRIX_SHARE_BELOW = 0.4; // share of the height for matrices below the words
const MIN_WORDS = 4; // minimum number of visible columns
const NARROW = 64; // narrower columns have smaller margins
const WIDEST = 150; // maximum column width; in a lecture few words have twice as much
const [LEAST_SCALE, SMALLER] = [18 / 14, 0.92]; // of the texts of a lecture, which the last row must read
const LARGER = 1.43; // size of words relative to other texts, where they fit
const HEAD = { usual: 2.43, compact: 1.86, close: 1.8 }; // heights of the row of words, relative to the text size
const [UNDER, HEAD_MARGIN] = [0.33, 4]; // space below the letters of a line, in em, and below the row, in pixels
const ROOMY = 100; // wider columns have space for the trained tag

/** @typedef {Omit<Model, "sizes" | "inSight" | "sparse">} Laid */
/** @typedef {{ below: boolean, stacked: boolean, saved: typeof USUAL }} Saving */
/**
 * @typedef {object} Room
 * @property {number} width
 * @property {number} height
 * @property {number} top
 * @property {number} note
 * @property {number} scale
 * @property {number} [digit]
 * @property {number[]} [words]
 * @property {number} [name]
 * @property {number} [rise]
 * @property {boolean} [shortens]
 * @property {number} [narrow]
 */

// Returns all sizes for a `room`: `width` and `height` of the usable window, the `top` of the stage on the page, the
// height of the `note`, the `scale` of the page's text, the widths of a `digit`, of each of the `words` and of the
// longest `name` of a tag in em, the `rise` of the highest word over its line, and whether the host `shortens` lists.
// Below the width `narrow` the panel is under the words. The text size is TEXT for large models and LARGE for small
// ones, times the scale. If the rows do not fit even at their minimum height, they scroll in a frame under the fixed
// words, and the page does not scroll. In a lecture they get smaller texts before they scroll: a row out of sight may
// hold the best path.
/** @param {Laid} model @param {Room} room */
export function layout(model, room) {
  let sizes = laidOut(model, room);
  for (let { scale } = room; room.shortens && sizes.flags.framed && scale > LEAST_SCALE; ) {
    scale = Math.max(LEAST_SCALE, SMALLER * scale);
    sizes = laidOut(model, { ...room, scale });
  }
  return sizes;
}

/** @param {Laid} model @param {Room} room */
function laidOut(model, room) {
  let [low, sizes] = [STRIP, sizesIn(model, room, { low: STRIP, bar: 0 })];
  for (const lower of [LOW_STRIP, LOWEST_STRIP]) {
    if (sizes.scant) [low, sizes] = [lower, sizesIn(model, room, { low: lower, bar: 0 })];
  }
  return sizes.flags.framed ? sizesIn(model, room, { low, bar: BAR }) : sizes;
}

/** @param {Laid} model @param {Room} room @param {{ low: typeof STRIP, bar: number }} lower */
function sizesIn(
  model,
  { width, height, top, note, scale, digit = 0, words: ems, name = 0, rise = 0, shortens, narrow = STACKED },
  { low, bar },
) {
  const { T, panels, heading } = model;
  const shown = model.shown.size;
  const below = panels.side === "gradient";
  const stacked = width < narrow;
  const resting = rests(model, shortens);
  const side = below || stacked || resting ? null : panels.side; // the panel that takes width from the words
  const text = scale * (model.K <= LARGE_TAGS && !stacked ? LARGE : TEXT);
  const unit = text / TEXT;
  const tight = Boolean(side) && (width - 500) / T < NARROW;
  const label = heading.length ? unit * NUMBERS * heading.length : labelWidth(model.rows, side, tight, unit);
  const least = leastColumn(model, name) * unit;
  const wide = wordWidths(model, ems, text);
  const wanted = wide.map((word) => clamp(word, least, WIDEST * unit));
  const words = label + sum(wanted) - least / 2 + GAP + BESIDE * unit;
  const unitBelow = unitOfMatrices({ width, shown, unit, digit });
  const matrix = matrixCell(model, { width, shown, below, unit: unitBelow, words, digit });
  const whole = panelWidth(side, shown, matrix, unit);
  const most = Math.floor(width - GAP - label - MIN_WORDS * least); // leaves MIN_WORDS columns beside a large matrix
  const panel = side === "matrix" ? Math.min(whole, Math.max(most, MIN_MATRIX * unit)) : whole;
  const room = width - panel - (panel ? GAP : 0) - label - 2 - bar;
  const beside = panels.main.includes("lattice") ? widthBeside(model) * unit : 0;
  const widest = (shortens ? 2 : 1) * WIDEST * unit;
  const { edge, columns } = columnsAndEdge(wanted, { room, least, most: widest, beside });
  const column = Math.min(...columns);
  const lefts = endsOf(columns);
  const { strip, plain, strips } = stripHeights(model, { low, unit });
  const every = model.tables.filter(({ name }) => panels.main.includes(name));
  const graphs = panels.main.reduce((sum, name) => sum + (name in GRAPH ? GRAPH[name] + GRAPH_MARGIN : 0), 0);
  const around = AROUND + graphs + aroundWalk(model, { width: width / unit, shortens });
  /** @param {Table[]} tables */
  const captionsOf = (tables) =>
    tables
      .map(({ label: text }) => CAPTION + LINE * linesIn(text, Math.min(room + label, label + lefts[T]) / unit))
      .reduce((sum, caption) => sum + caption, 0);
  // The height that the page leaves for the stage.
  const place = placeOfNote(panels.side, { width, shown, matrix, unit: unitBelow, note, stacked });
  const outside = height - top - BELOW_STAGE[shortens ? "lecture" : "page"] * scale - place.above;
  const matrices = below ? heightOfMatrices(shown, unitBelow) : 0;
  /** @param {Table[]} tables */
  const freeBeside = (tables) => outside - unit * (around + captionsOf(tables)) - matrices - strips;
  const alone = standsAlone(model, { free: freeBeside(every), tables: every.length, unit });
  const tables = alone ? [] : every;
  const beneath = strips + unit * (captionsOf(tables) + AROUND - TOPLINE); // height of words, strips and captions
  const panelAbove = unit * (heightBeside(side, model, shortens) + FORMULA) - beneath;
  const saved = savedBy(model, { free: freeBeside(tables), panelAbove, tables: tables.length, stacked, unit });
  const withLast = alone ? strips + note : 0; // height that the last step adds with the tables
  const free = freeBeside(tables) + unit * (saved.rows + saved.around) + withLast;
  const rows = rowsOf(model, { free, height, tables: tables.length, below, unit, saved, stacked, shortens });
  const frame = frameOf(model, rows, { free, height, matrices, unit });
  const inside = unit * (graphs + captionsOf(tables) + AROUND - TOPLINE - saved.rows) + (alone ? 0 : strips);
  const inFrame = frame.room + inside;
  const lacking = frame.needed - frame.room + matrices - frame.matrices;
  const unseen = below ? (1 - SEEN_BELOW) * matrices : unit * LEGENDS; // height that may be below the window
  const tooTall = lacking > unseen || inFrame < unit * (heightBeside(side, model, shortens) - LEGENDS);
  const framed = !stacked && tooTall && inFrame >= MIN_FRAME * unit;
  return {
    ...rows,
    scant: rows.row * rows.drawn > free,
    column,
    lefts,
    room,
    unit,
    lengths: {
      beside: edge,
      label,
      column,
      all: lefts[T],
      word: Math.min(
        clamp(Math.min(...wide.map((need, t) => (columns[t] - WORD_MARGIN) / (need - WORD_MARGIN))), 1, LARGER) * text,
        (headOf(model, saved) * text - HEAD_MARGIN) / (rise + UNDER),
      ),
      row: rows.row,
      strip,
      plain,
      matrix,
      side: stacked ? width : panel,
      tall: Math.floor(Math.max(MIN_TALL, inFrame)),
      matrices: Math.floor(frame.matrices),
      note: place.beside,
      rivals: rivalsIn(stacked, free / unit, column / unit) * unit,
      text,
      small: TEXT * unitBelow,
    },
    listed: listedIn({ height: height - top, inFrame, framed, unit }),
    flags: {
      narrow: column < NARROW * unit,
      compact: Boolean(panels.compact),
      roomy: column >= ROOMY * unit,
      stacked,
      alone,
      close: saved !== USUAL,
      noteBeside: place.beside > 0,
      framed,
      held: framed && strips <= MAX_HELD * unit,
      cut: panel < whole,
      rtl: model.rtl,
      resting,
    },
  };
}

// Width beside the last column: of its numbers, and of END where Viterbi draws it.
/** @param {Laid} model */
function widthBeside({ ghost, walk }) {
  if (ghost) return BESIDE_CHANGED;
  return walk?.phases.some(({ nodes }) => nodes.includes("best")) ? NUMBER + END_WIDTH + END_HALF : BESIDE;
}

// Before the first step the panel of a cell is empty: in a lecture the words take its space.
/** @param {Laid} model @param {boolean | undefined} shortens */
function rests({ panels, walking, steps }, shortens) {
  return Boolean(shortens && panels.side === "cell" && walking && steps?.at === 0);
}

// Height of the row of words, relative to the text size; must equal the style sheet.
/** @param {Laid} model @param {typeof USUAL} saved */
function headOf({ panels }, saved) {
  return panels.compact ? HEAD.compact : saved === USUAL ? HEAD.usual : HEAD.close;
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

// Height of the overview of a long sentence, the step buttons, and the legend, which a lecture omits.
/** @param {Laid} model @param {{ width: number, shortens?: boolean }} room */
function aroundWalk({ walk, legend, T, total }, { width, shortens }) {
  const strip = total > T ? OVERVIEW : 0;
  return strip + (walk?.phases.length ? STEPPER : 0) + (shortens ? 0 : LINE * linesIn(legend, width));
}

// Heights of a row of tags, a row of texts, and all of them.
/** @param {Laid} model @param {{ low: typeof STRIP, unit: number }} lower */
function stripHeights({ rows, panels, heading, K }, { low, unit }) {
  const { tags, texts } = panels.side === "entity" ? { ...low, tags: LOW_STRIP.tags } : low;
  const compact = K <= LARGE_TAGS ? [22, 18] : [26, 20]; // large letters have enough space around them
  const [strip, plain] = (panels.compact ? compact : [heading.length ? 25 : tags, texts]).map((size) => size * unit);
  const every = panels.main.includes("strips") ? rows : [];
  return { strip, plain, strips: every.reduce((sum, row) => sum + (row.texts ? plain : strip), 0) };
}

// Whether only the lattice fits. During the walk its nodes then show the numbers of the tables.
/** @param {Laid} model @param {{ free: number, tables: number, unit: number }} room */
function standsAlone({ panels, walking, covered, shown }, { free, tables, unit }) {
  if (!walking || !tables || !panels.main.includes("lattice") || covered.has("lattice")) return false;
  return free < shown.size * (tables + 1) * limits(panels, true, tables, false)[0] * unit;
}

// Returns how much closer the layout is: above matrices, and for a lattice with several tables if the rows have too
// little space. `panelAbove` is the part of the side panel's height that must fit beside the rows.
/**
 * @param {Laid} model
 * @param {Record<"free" | "panelAbove" | "tables" | "unit", number> & { stacked: boolean }} room
 */
function savedBy({ panels, walking, shown }, { free, panelAbove, tables, stacked, unit }) {
  if (panels.side === "gradient" && !stacked) return CLOSE_ABOVE;
  if (walking || stacked || tables < 2 || !panels.main.includes("lattice")) return USUAL;
  const [least] = limits(panels, true, tables, false);
  return free < Math.max(panelAbove, (shown.size * (tables + 1) + 1) * least * unit) ? CLOSE : USUAL;
}

// Heights of the rows and of the matrices below: both scroll if the space is too small.
/**
 * @param {Laid} model
 * @param {{ row: number, rows: number, drawn: number }} rows
 * @param {{ free: number, height: number, matrices: number, unit: number }} room
 */
function frameOf({ panels }, { row, rows, drawn }, { free, height, matrices, unit }) {
  const needed = row * drawn;
  if (panels.compact && panels.main.includes("lattice")) {
    return { needed: row * rows, room: (height - unit * TWICE) / 2, matrices };
  }
  if (matrices === 0 || needed <= free) return { needed, room: free, matrices };
  const both = free + matrices;
  const least = Math.min(matrices, Math.max(MATRIX_SHARE_BELOW * both, both - needed));
  return { needed, room: both - least, matrices: least };
}

// The height of a panel beside the words, at the smallest text size.
/** @param {Side | null} side @param {Laid} model @param {boolean | undefined} shortens */
function heightBeside(side, { K, shown }, shortens) {
  const { around, row } = (side && BESIDE_HEIGHTS[side]) ?? { around: 0, row: 0 };
  if (side === "cell" && shortens) return around;
  return around + row * (side === "matrix" ? shown.size + 1 : K);
}

// The number of inputs of a cell that fit into its panel.
/** @param {{ height: number, inFrame: number, framed: boolean, unit: number }} room */
function listedIn({ height, inFrame, framed, unit }) {
  const { around, row } = BESIDE_HEIGHTS.cell;
  const room = Math.min(height - unit * (TOPLINE + STEPPER), framed ? inFrame : Infinity);
  return Math.max(MIN_LISTED, Math.floor((room - unit * around) / (unit * row)));
}

// The height at which the list of rivals scrolls; if it is too small, the page scrolls.
/** @param {boolean} stacked @param {number} free @param {number} column */
function rivalsIn(stacked, free, column) {
  const room = free - ENTITY - (column < ONE_LINE ? SECOND_LINES : 0);
  return stacked || room < MIN_RIVALS ? EVERY_RIVAL : Math.floor(room);
}

// Lines of a text in `width` pixels at the smallest text size.
/** @param {string} text @param {number} width */
function linesIn(text, width) {
  return Math.ceil((text.length * LETTER) / width);
}

// Height and number of the rows of lattice or tables, and the row of each tag; folded tags share the last row.
/**
 * @param {Laid} model
 * @param {Record<"free" | "height" | "tables" | "unit", number> & Saving & { shortens?: boolean }} room
 */
function rowsOf({ panels, shown, order, K }, { free, height, tables, below, unit, saved, stacked, shortens }) {
  const lattice = panels.main.includes("lattice");
  const rows = shown.size + (lattice && shown.size < K ? 1 : 0);
  const twice = panels.compact && lattice;
  const wanted = (lattice ? rows : 0) + shown.size * tables;
  const ideal = twice ? (height - unit * TWICE) / 2 / rows : free / (wanted || 1);
  const rowOf = Array.from({ length: K }, (_, k) => (shown.has(k) ? order.indexOf(k) : shown.size));
  const [least, usual] = limits(panels, lattice, tables, below);
  const fills = wanted <= FEW_ROWS && !panels.compact && !stacked;
  const most = K <= LARGE_TAGS || fills ? (shortens ? 2 : 1) * TALLEST : usual;
  // Low rows are allowed if the panel beside them also reaches their cells; touch on a phone needs larger rows.
  const dense = twice || (lattice && tables > 0 && !stacked);
  const row = Math.floor(clamp(ideal, Math.max(dense ? 0 : TARGET, (saved.least || least) * unit), most * unit));
  return { row, rows, drawn: wanted, rowOf };
}

// The minimum and the default maximum height of a row.
/** @param {Panels} panels @param {boolean} lattice @param {number} tables @param {boolean} below */
function limits({ compact }, lattice, tables, below) {
  if (compact) return lattice ? [18, 22] : [19, 21];
  if (lattice) return [below ? 16 : tables ? 17 : 22, 36];
  return [tables > 1 ? 19 : 21, 32];
}
