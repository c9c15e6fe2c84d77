// Sizes follow the room there is: all words side by side down to a least width, all rows above the fold of the page.
// A pure function of the model and the room; the style sheet does the rest. In pixels where nothing else is said.

import { FEW_TAGS } from "../model.js";
import { clamp } from "../numbers.js";

const GAP = 16; // between the words and the panel beside them
const PAGE_BELOW = 62; // what the page needs under the stage
const AROUND = 66; // topline, words and margins
const TWICE = 320; // what a page with two lattices needs around them
const STEPPER = 46;
const LEGEND = 20;
const CAPTION = 24; // of a table
const PANEL = 286; // a panel beside the words
const LEAST_MATRIX = 270; // the controls under a small matrix need them
const MATRIX_LABEL = 56;
const MATRIX_SHARE = 0.47; // of the stage's width, at most
const BELOW = { head: 70, row: 21 }; // matrices under the words
const NUMBERS = 55; // a column of numbers where other rows have their label
const LEAST_TALL = 200; // of words that scroll down
const PRODUCT = 70; // a column of numbers such as 1.234e-10
const STACKED = 640; // stages narrower than this have their panel under the words
const NARROW = 64; // columns below this are written smaller
const ROOMY = 100; // columns from here on have room for what a tag was
const FEW_ROWS = 4; // lattices this low may be drawn larger

// `room`: width and height of the window that the stage may use, its `top` on the page, and the height of its `note`.
export function layout(model, { width, height, top, note }) {
  const { T, panels, heading } = model;
  const shown = model.shown.size;
  const below = panels.side === "gradient";
  const stacked = width < STACKED;
  const side = below || stacked ? null : panels.side; // what takes room from the words
  const tight = Boolean(side) && (width - 500) / T < NARROW;
  const matrix = matrixCell(width, shown, below, tight);
  const panel = panelWidth(side, shown, matrix);
  const label = heading.length ? NUMBERS * heading.length : labelWidth(model.rows, side, tight);
  const room = width - panel - (panel ? GAP : 0) - label - 2;
  const products = model.tables.some(({ kind }) => kind === "exponent");
  const column = Math.floor(clamp(room / T, products ? PRODUCT : side ? 40 : 50, 150));
  const [strip, plain] = panels.compact ? [26, 20] : [heading.length ? 25 : 31, 22];
  const strips = panels.main.includes("strips")
    ? model.rows.reduce((sum, row) => sum + (row.texts ? plain : strip), 0)
    : 0;
  const tables = panels.main.filter((name) => !["strips", "lattice", "spans"].includes(name)).length;
  const others =
    strips +
    note +
    tables * CAPTION +
    (model.walk?.phases.length ? STEPPER : 0) +
    (model.legend ? LEGEND : 0) +
    (below ? BELOW.head + BELOW.row * (shown + 1) : 0);
  const free = height - top - PAGE_BELOW - AROUND - others;
  const rows = rowsOf(model, free, height, tables, below);
  const tall = Math.max(LEAST_TALL, free + strips + 60);
  return {
    ...rows,
    column,
    lengths: { label, column, row: rows.row, strip, plain, matrix, side: stacked ? width : panel, tall },
    longest: Math.max(...model.words.map((word) => word.length)),
    flags: { narrow: column < NARROW, compact: Boolean(panels.compact), roomy: column >= ROOMY, stacked },
  };
}

function matrixCell(width, shown, below, tight) {
  if (below) return clamp(Math.floor((width / 2 - BELOW.head) / (shown + 1)), 22, 38);
  const most = shown <= FEW_TAGS ? 38 : tight ? 27 : 32;
  return clamp(Math.floor((MATRIX_SHARE * width - MATRIX_LABEL) / (shown + 1)), 26, most);
}

function panelWidth(side, shown, matrix) {
  if (side === "matrix") return Math.max(LEAST_MATRIX, MATRIX_LABEL + (shown + 1) * matrix);
  return side && side !== "entity" ? PANEL : 0; // an entity's panel stands below
}

// By the number of letters in the longest label.
function labelWidth(rows, side, tight) {
  const letters = Math.max(0, ...rows.map((row) => [row.label, row.value].filter(Boolean).join("  ").length));
  return tight ? clamp(5.3 * letters, 84, 150) : clamp(10 + 7 * letters, side ? 104 : 112, 150);
}

// Height and number of the lattice's or the tables' rows, and which of them each tag has; folded tags share the last.
function rowsOf({ panels, shown, order, K }, free, height, tables, below) {
  const lattice = panels.main.includes("lattice");
  const rows = shown.size + (lattice && shown.size < K ? 1 : 0);
  const twice = panels.compact && lattice;
  const wanted = (lattice ? rows : 0) + shown.size * tables;
  const ideal = twice ? (height - TWICE) / 2 / rows : free / (wanted || 1);
  const rowOf = Array.from({ length: K }, (_, k) => (shown.has(k) ? order.indexOf(k) : shown.size));
  return { row: Math.floor(clamp(ideal, ...limits(panels, lattice, shown.size, tables, below))), rows, rowOf };
}

// The least and the largest height of a row.
function limits({ compact }, lattice, shown, tables, below) {
  if (compact) return lattice ? [14, 22] : [18, 21];
  if (lattice) return [below ? 18 : 22, shown <= FEW_ROWS ? 64 : 36];
  return [tables > 1 ? 17 : 21, 32];
}
