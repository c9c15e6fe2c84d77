// Tables of numbers: the transition matrix, and tables with a column per word. Colours show the size of a number.

import { button, changed, describe, flag, hide, html, mark, set, setProperty, setText } from "../dom.js";
import { END, MAX_BY_HAND, START, weight } from "../model.js";
import { numbersOf, percent, score, signed } from "../numbers.js";

/** @import { Attributes, Chain, Counts, Model, Table } from "../types.js" */

// Scores are mostly negative; the largest ones should stay visible among them.
const MAX_MARKED = 10; // edits that are marked after a learning step
const NEGATIVES = 3;
const SIGNIFICANT = 4; // significant digits of products
const LARGEST = 6; // nats at full colour, at most: a single huge edit must not fade all other cells

/**
 * @template Context
 * @typedef {object} Grid
 * @property {string} attribute
 * @property {string} title
 * @property {(model: Model) => Context} begin
 * @property {(model: Model, cell: HTMLElement, from: number, to: number, context: Context) => void} draw
 */
/**
 * @typedef {object} Drawn
 * @property {number} range
 * @property {number} [digits]
 * @property {number} trained
 * @property {boolean} edited
 * @property {string} name
 * @property {string} [kind]
 */

// A matrix over the weights of the CRF layer: rows are "from" with START on top, columns are "to" with END at the
// right. `data-ends` has the ids of a cell, -1 for START and K for END; `attribute` has its names as "from,to", for
// readers of the page alone. `draw` gets the model, a cell, the two ids and the result of `begin`, which runs once per
// update.
/** @template Context @param {Model} model @param {Grid<Context>} grid */
function buildGrid({ tags, colours }, { attribute, title, begin, draw }) {
  /** @param {number} k */
  const style = (k) => ({ style: `--tag:${colours[k] ?? "currentColor"}` });
  const tos = [...tags, END];
  const heads = tos.map((to, k) => html("div.matrix-head", style(k), html("span", { title: to }, to)));
  const rows = [START, ...tags].map((name, i) => {
    const from = i - 1;
    const label = html("div.matrix-label", { title: `from ${name}`, ...style(from) }, name);
    const none = from < 0 && html("div");
    const cells = tos.map((end, to) =>
      none && to === tags.length ? none : buildCell({ [attribute]: `${name},${end}`, "data-ends": `${from},${to}` }),
    );
    return { from, cells, element: html("div.matrix-row", label, cells) };
  });
  const header = html("div.matrix-row.matrix-header", html("div.matrix-label.matrix-corner", "from ↓\nto →"), heads);
  const every = rows.map((row) => row.element);
  /** @param {Model} next @param {number} k */
  const hidden = (next, k) => k >= 0 && k < tags.length && !next.shown.has(k);
  return {
    element: html("div.matrix-frame", html("div.matrix", { role: "group", "aria-label": title }, header, every)),
    /** @param {Model} next */
    update(next) {
      heads.forEach((head, to) => hide(head, hidden(next, to)));
      const context = begin(next);
      for (const { from, cells, element } of rows) {
        hide(element, hidden(next, from));
        cells.forEach((cell, to) => {
          hide(cell, hidden(next, to));
          if (cell.hasAttribute(attribute)) draw(next, cell, from, to, context);
        });
      }
    },
  };
}

// The transition scores, with START and END; every cell can be edited. `go` changes the displayed step, if each
// step has its own matrix.
/** @param {Model} model @param {(by: number) => void} go */
export function buildMatrix(model, go) {
  const grid = buildGrid(model, {
    attribute: "data-cell",
    title: "Transition scores, from the row's tag to the column's tag",
    begin: largest,
    /**
     * @param {Model} next
     * @param {HTMLElement} cell
     * @param {number} from
     * @param {number} to
     * @param {ReturnType<typeof largest>} range
     */
    draw(next, cell, from, to, range) {
      const scores = [next.chain, next.trained].map((chain) => weight(chain, from, to, next.into));
      const asShares = next.display === "probability";
      const [value, trained] = asShares ? scores.map(Math.exp) : scores;
      const edited = next.edits.transitions.has(`${from},${to}`) && !(Math.abs(scores[0] - scores[1]) < range.marked);
      const shown = asShares ? { range: 1, kind: "weight" } : { range: range.size };
      drawNumber(cell, value, { ...shown, trained, edited, name: stepName(next, from, to) });
    },
  });
  const caption = html("span.matrix-step-text", { "aria-live": "polite" });
  const back = button("◀", () => go(-1), { title: "one step back" });
  const on = button("▶", () => go(1), { title: "one step on" });
  const steps = html("div.matrix-step.buttons", back, caption, on);
  const element = html("div", steps, grid.element);
  return {
    element,
    /** @param {Model} next */
    update(next) {
      const { T, words, into } = next;
      hide(steps, !next.perStep || T < 2);
      const named = T < 2 ? [] : ["step ", html("bdi", words[into - 1]), " → ", html("bdi", words[into])];
      if (changed(caption, T, words[into - 1], words[into])) caption.replaceChildren(...named);
      set(element, "data-into", into);
      [back.disabled, on.disabled] = [into <= 1, into >= T - 1];
      grid.update(next);
    },
  };
}

// Observed minus expected uses of every weight: the gradient of the log-likelihood.
/** @param {Model} model */
export function buildGradient(model) {
  return buildGrid(model, {
    attribute: "data-weight",
    title: "Observed minus expected counts, from the row's tag to the column's tag",
    begin: () => null,
    /** @param {Model} model @param {HTMLElement} cell @param {number} from @param {number} to */
    draw({ gradient, tags }, cell, from, to) {
      /** @param {Counts | undefined} counts */
      const number = (counts) => (counts ? weight(counts, from, to) : NaN);
      const [observed, difference] = [number(gradient?.observed), number(gradient?.difference)];
      if (!changed(cell, observed, difference)) return;
      const numbers = [observed, observed - difference, difference];
      const [seen, expected, rounded] = numbers.map((value) => Number(value.toPrecision(7)));
      const known = `observed ${seen} − expected ${expected} = ${rounded}`;
      const text = `${stepName({ tags }, from, to)}: ${Number.isNaN(difference) ? "unknown" : known}`;
      setText(cell, Math.abs(difference) < 0.005 ? "·" : signed(difference));
      shade(cell, difference, Math.abs(difference) || 0);
      describe(cell, text);
      set(cell, "aria-valuetext", text);
    },
  });
}

/** @param {Pick<Model, "tags">} model @param {number} from @param {number} to */
function stepName({ tags }, from, to) {
  return `from ${tags[from] ?? START} to ${tags[to] ?? END}`;
}

// A table over the words. `table`: { name, label, values, digits, scale, editable, row (outlined tag ids) }.
/** @param {Model} model @param {string} name */
export function buildTable(model, name) {
  const rows = model.tags.map((tag, k) => {
    const label = html("div.label.tag-name", { style: `--tag:${model.colours[k]}`, title: tag }, tag);
    const cells = model.words.map((_, t) => buildCell({ "data-table": name, "data-t": t, "data-k": k }));
    return { k, cells, element: html("div.row", label, cells) };
  });
  const caption = html("div.caption");
  const every = rows.map((row) => row.element);
  const element = html("div.heat", { role: "group" }, caption, every);
  return {
    element,
    /** @param {Model} next */
    update(next) {
      const table = next.tables.find((other) => other.name === name);
      if (!table) return;
      setText(caption, table.label);
      set(element, "aria-label", table.label);
      flag(element, { editable: Boolean(table.editable) });
      for (const { k, cells, element: row } of rows) {
        hide(row, !next.shown.has(k) || (table.kind === "change" && unchanged(table, k, next)));
        /** @param {number} t */
        const seen = (t) => next.sees(name, t) && table.written?.has(t * next.K + k) !== false;
        cells.forEach((cell, t) => (seen(t) ? drawCell(next, table, cell, t, k) : cover(cell)));
      }
    },
  };
}

/** @param {Model} model @param {Table} table @param {HTMLElement} cell @param {number} t @param {number} k */
function drawCell(model, table, cell, t, k) {
  const { name, kind, digits, editable } = table;
  const i = t * model.K + k;
  /** @param {number} score */
  const shown = (score) => (kind === "score" ? score : Math.exp(score)); // probabilities of an HMM
  const value = editable ? shown(model.chain.emissions[i]) : table.values[i];
  const trained = editable ? shown(model.trained.emissions[i]) : (table.trained?.[i] ?? value);
  const edited = Boolean(editable) && model.edits.emissions.has(`${t},${k}`);
  const scores = value < 0 && kind !== "change" && kind !== "signed";
  const range = scores ? NEGATIVES * table.scale : table.scale;
  drawNumber(cell, value, { range, digits, trained, edited, name: `${model.words[t]} as ${model.tags[k]}`, kind });
  /** @param {[number, number]} place */
  const here = ([word, tag]) => word === t && tag === k;
  const explained = model.panels.side === "cell" && model.reading.kind === name && here(model.cell);
  const goesIn = model.lit?.table === name && model.lit.t === t ? model.lit.shares.get(k) : 0;
  const lit = Number(goesIn) >= 0.01; // the cell is a term of the explained number
  const outlined = table.outlined?.[t] === k && model.sees(table.frames ?? name, t);
  flag(cell, {
    outlined: outlined || table.written?.get(i),
    chosen: explained || (model.asked !== null && here(model.asked)),
    lit,
    wrong: table.wrong && here(table.wrong),
  });
}

// Clears the text of a cell.
/** @param {HTMLElement} cell */
function cover(cell) {
  if (!changed(cell, null)) return;
  cell.replaceChildren();
  for (const name of ["role", "title", "aria-label", "aria-valuetext"]) mark(cell, name, null);
  setProperty(cell, "--share", "0%");
  const flags = ["outlined", "chosen", "lit", "edited", "change", "forbidden", "wrong"];
  for (const name of flags) flag(cell, { [name]: false });
}

/** @param {Attributes} attributes */
function buildCell(attributes) {
  return html("div.cell", { role: "spinbutton", tabindex: -1, ...attributes });
}

/** @param {HTMLElement} cell @param {number} value @param {Drawn} how */
function drawNumber(cell, value, { range, digits = 1, trained, edited, name, kind = "score" }) {
  const editing = cell.hasAttribute("data-editing");
  if (!changed(cell, value, range, digits, trained, edited, editing)) return;
  set(cell, "role", "spinbutton");
  if (!editing) setText(cell, cellText({ kind, digits }, value));
  shade(cell, value, Number.isFinite(value) ? Math.abs(value) / range : 0);
  const change = direction(value, trained, edited ? 6 : digits);
  flag(cell, { forbidden: value === -Infinity && kind === "score", edited, change });
  const full = value === -Infinity ? "forbidden" : String(Number(value.toPrecision(7)));
  describe(cell, `${name}: ${full}${Object.is(trained, value) ? "" : `, trained ${score(trained, 4)}`}`);
  set(cell, "aria-valuetext", full);
}

// Formats a number for a table cell.
/** @param {{ kind: string, digits: number }} how @param {number} value */
export function cellText({ kind, digits }, value) {
  if (kind === "written") return Number.isNaN(value) ? "NaN" : score(value, digits);
  return kind === "score" ? score(value, digits) : small(value, digits, kind);
}

// Fills a cell by its share of the largest value.
/** @param {HTMLElement} cell @param {number} value @param {number} part */
function shade(cell, value, part) {
  const share = Math.min(1, part);
  setProperty(cell, "--share", `${Math.round(65 * share)}%`);
  flag(cell, { negative: value < 0 });
}

// Whether every change in a row is too small to be shown.
/** @param {Table} table @param {number} k @param {Model} model */
function unchanged({ values, digits }, k, { T, K }) {
  for (let t = 0; t < T; t++) if (Math.abs(values[t * K + k]) >= 10 ** -digits / 2) return false;
  return true;
}

/** @param {number} value @param {number} digits @param {string} kind */
function small(value, digits, kind) {
  if (Number.isNaN(value)) return "";
  const least = 10 ** -digits / 2; // the exact number is in the cell's title
  if (kind === "weight")
    return value === 0 || value >= 0.0095 ? String(Number(value.toFixed(2))) : value.toExponential(0);
  if (kind === "change" || kind === "signed") return Math.abs(value) < least ? "·" : signed(value, digits);
  if (value === Infinity) return "∞"; // beyond 1.8e308: the reason for computing with logarithms
  if (kind === "exponent") return significant(value, digits);
  if (value >= 1e4) return value.toExponential(0);
  return value < least ? "·" : value.toFixed(digits);
}

// Four significant digits, with at least as many decimals as other cells.
/** @param {number} value @param {number} digits */
function significant(value, digits) {
  if (value === 0) return "0";
  if (value < 1e-4 || value >= 1e5)
    return value
      .toExponential(3)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  const text = String(Number(value.toPrecision(SIGNIFICANT)));
  const decimals = text.split(".")[1]?.length ?? 0;
  return decimals < digits && value < 1 ? value.toFixed(digits) : text;
}

// The size at which colours are full, and the change above which an edited cell is marked. A learning step edits all
// cells, and only its largest changes should stand out.
/** @param {Model} model */
function largest({ chain, trained, edits, into }) {
  const moved = [...edits.transitions.keys()].map((cell) => {
    const [now, before] = [chain, trained].map((each) => weight(each, ...numbersOf(cell), into));
    return Math.abs(now - before);
  });
  const marked = moved.length > MAX_BY_HAND ? moved.sort((a, b) => b - a)[MAX_MARKED - 1] : -Infinity;
  return { size: sizeOf(chain), marked };
}

/** @param {Chain} chain */
function sizeOf(chain) {
  let size = 1;
  for (const table of [chain.transitions, chain.start, chain.end]) {
    for (const value of table) if (value !== -Infinity && Math.abs(value) > size) size = Math.abs(value);
  }
  return Math.min(size, LARGEST);
}

// "up", "down", or null where the difference is not visible in the formatted number.
/** @param {number} value @param {number | undefined} trained @param {number} digits */
export function direction(value, trained, digits) {
  if (trained === undefined || Object.is(value, trained) || Number.isNaN(value) || Number.isNaN(trained)) return null;
  if (Math.abs(value - trained) < 0.5 * 10 ** -digits) return null; // infinite if one of them is forbidden
  return value > trained ? "up" : "down";
}

// A dotted tick at the trained value of a bar. `share` is 0 to 1 of the bar's width; null removes the tick.
/** @param {Element} bar @param {number | null} share @param {string} text */
export function drawTick(bar, share, text) {
  const known = bar.querySelector(".bar-ghost");
  if (share === null) return known?.remove();
  const tick = known ?? bar.appendChild(html("span.bar-ghost"));
  setProperty(tick, "--at", percent(share));
  set(tick, "title", text);
}
