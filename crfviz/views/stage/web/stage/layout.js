// Sizes that use the available space: all words side by side down to a minimum width, all rows above the fold.
// Pure functions of the model and the window, in steps: the setting, all widths, all heights, the size of words. The
// style sheet does the rest. In pixels unless stated otherwise.

import { NARROW, sizeOfWords, widthsIn } from "./columns.js";
import { heightsIn, listedIn, rivalsIn, SAVED, STRIPS } from "./rows.js";
import { SHEET } from "./sheet.js";
import { LARGE_TAGS, STACKED, TEXT } from "./widths.js";

/** @import { Model, Side } from "../types.js" */
/** @import { Saved, Strips } from "./rows.js" */

const LARGE = 20; // text size of models with few tags
const BAR = 12; // width of a scroll bar
const MIN_TALL = 200; // height of words that scroll vertically
const ROOMY = 100; // wider columns have space for the trained tag
const [LEAST_SCALE, SMALLER] = [18 / 14, 0.92]; // of the texts of a lecture, which the last row must read
const UNDER = 0.33; // space below the letters of a line, in em

/** @typedef {Omit<Model, "sizes" | "inSight" | "sparse">} Laid */
/**
 * @typedef {object} Room
 * @property {number} width of the usable window
 * @property {number} height of the usable window
 * @property {number} top of the stage on the page
 * @property {number} note height of the note
 * @property {number} scale of the page's text, 1 for the smallest one
 * @property {number} [digit] width of a digit, in em
 * @property {number[]} [words] width of each word, in em
 * @property {number} [name] width of the longest name of a tag, in em
 * @property {number} [rise] of the highest word over its line, in em
 * @property {boolean} [shortens] whether the host shortens lists, as a lecture does
 * @property {number} [narrow] below this width the panel is under the words
 */
/**
 * What is decided before any size.
 * @typedef {object} Decided
 * @property {Laid} model
 * @property {number} digit width, in em
 * @property {number} name width of the longest one, in em
 * @property {number} rise in em
 * @property {boolean} lecture
 * @property {number} shown number of tags with a row of their own
 * @property {boolean} stacked whether the panel is under the words
 * @property {boolean} resting whether the panel is empty and leaves its space
 * @property {boolean} below whether matrices are below the words
 * @property {Side | null} side the panel that takes width from the words
 * @property {number} text size of texts
 * @property {number} unit this size relative to the smallest one, TEXT
 */
/** @typedef {Pick<Room, "width" | "height" | "top" | "note" | "scale" | "words"> & Decided} Setting */

// Returns all sizes. The text size is TEXT for large models and LARGE for small ones, times the scale. If the rows do
// not fit even at their minimum height, they scroll in a frame under the fixed words, and the page does not scroll. In
// a lecture they get smaller texts before they scroll: a row out of sight may hold the best path.
/** @param {Laid} model @param {Room} room */
export function layout(model, room) {
  let sizes = laidOut(model, room);
  for (let { scale } = room; room.shortens && sizes.flags.framed && scale > LEAST_SCALE; ) {
    scale = Math.max(LEAST_SCALE, SMALLER * scale);
    sizes = laidOut(model, { ...room, scale });
  }
  return sizes;
}

// Lowers the strips until the rows fit. A frame takes the width of its scroll bar.
/** @param {Laid} model @param {Room} room */
function laidOut(model, room) {
  const setting = settingOf(model, room);
  let [low, ...lower] = STRIPS;
  let sizes = sizesIn(setting, low, 0);
  while (sizes.scant && lower.length) {
    [low, ...lower] = lower;
    sizes = sizesIn(setting, low, 0);
  }
  return sizes.flags.framed ? sizesIn(setting, low, BAR) : sizes;
}

/** @param {Laid} model @param {Room} room @returns {Setting} */
function settingOf(model, { digit = 0, name = 0, rise = 0, narrow = STACKED, shortens, ...room }) {
  const lecture = Boolean(shortens);
  const stacked = room.width < narrow;
  const below = model.panels.side === "gradient";
  const resting = lecture && rests(model);
  const side = below || stacked || resting ? null : model.panels.side;
  const text = room.scale * (model.K <= LARGE_TAGS && !stacked ? LARGE : TEXT);
  const shown = model.shown.size;
  return { ...room, model, digit, name, rise, lecture, shown, stacked, resting, below, side, text, unit: text / TEXT };
}

// Before the first step the panel of a cell is empty: in a lecture the words take its space.
/** @param {Laid} model */
function rests({ panels, walking, steps }) {
  return panels.side === "cell" && walking && steps?.at === 0;
}

/** @param {Setting} setting @param {Strips} low @param {number} bar */
function sizesIn(setting, low, bar) {
  const { model, width, text, unit, stacked, resting, rise } = setting;
  const widths = widthsIn(setting, bar);
  const heights = heightsIn(setting, widths, low);
  const { rows, free, saved, framed, note, alone, held } = heights;
  const column = Math.min(...widths.columns);
  const head = headOf(model, saved) * text - SHEET.headMargin;
  return {
    ...rows,
    scant: rows.row * rows.drawn > free,
    column,
    lefts: widths.lefts,
    room: widths.room,
    unit,
    lengths: {
      beside: widths.edge,
      label: widths.label,
      column,
      all: widths.lefts[model.T],
      word: Math.min(sizeOfWords(widths) * text, head / (rise + UNDER)),
      row: rows.row,
      strip: heights.strip,
      plain: heights.plain,
      matrix: widths.matrix,
      side: stacked ? width : widths.panel,
      tall: Math.floor(Math.max(MIN_TALL, heights.inFrame)),
      matrices: Math.floor(heights.matrices),
      note: note.beside,
      rivals: rivalsIn(setting, free, column),
      text,
      small: TEXT * widths.unitBelow,
    },
    listed: listedIn(setting, heights),
    flags: {
      narrow: column < NARROW * unit,
      compact: Boolean(model.panels.compact),
      roomy: column >= ROOMY * unit,
      stacked,
      alone,
      close: saved !== SAVED.usual,
      noteBeside: note.beside > 0,
      framed,
      held,
      cut: widths.cut,
      rtl: model.rtl,
      resting,
    },
  };
}

// Height of the row of words, relative to the text size.
/** @param {Laid} model @param {Saved} saved */
function headOf({ panels }, saved) {
  if (panels.compact) return SHEET.head.compact;
  return saved === SAVED.usual ? SHEET.head.usual : SHEET.head.close;
}
