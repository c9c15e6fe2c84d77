// Rows of tags under the words: one decoder, path or sample per row. A cell that differs from the
// reference row has a dashed red frame.

import { changed, flag, html, mark, setProperty, setText } from "../dom.js";

/** @import { Model, Row } from "../types.js" */

const WIDE = 16; // labels up to this number of characters always fit
const SHORT = 7; // tags up to this number of characters fit into every column

/** @param {Model} model */
export function buildStrips(model) {
  const element = html("div.strips", { role: "group", "aria-label": "The tags each decoder chooses" });
  /** @type {ReturnType<typeof buildRow>[]} */
  let rows = [];
  // The edits add and remove rows; the rest of the stage, and the focus in it, stay.
  /** @param {Model} next */
  const fit = (next) => {
    if (rows.length === next.rows.length && rows.every((row, i) => row.id === next.rows[i].id)) return;
    rows = next.rows.map((row) => buildRow(next, row.id));
    element.replaceChildren(...rows.map((row) => row.element));
  };
  fit(model);
  return {
    element,
    /** @param {Model} next */
    update(next) {
      fit(next);
      rows.forEach((row, i) => drawRow(next, next.rows[i], row));
    },
  };
}

/** @param {Model} model @param {string} id */
function buildRow(model, id) {
  const label = html("div.label");
  const cells = model.words.map((_, t) => html("div.tag", { "data-t": t, tabindex: -1 }));
  return { id, label, cells, element: html("div.row.strip", label, cells) };
}

/** @param {Model} model @param {Row} row @param {ReturnType<typeof buildRow>} row */
function drawRow(model, row, { label, cells, element }) {
  if (!model.sees(row.id)) cover(label);
  else if (row.columns) drawColumns(label, row.columns);
  else drawLabel(label, row.value ? `${row.label}  ${row.value}` : row.label, row.about);
  flag(element, { strong: row.id === model.reference, plain: Boolean(row.texts) });
  const against = row.against ?? model.reference;
  const reference = model.rows.find((other) => other.id === against)?.tags;
  cells.forEach((cell, t) => {
    const seen = model.sees(row.id, t);
    mark(cell, "data-row", seen && row.id);
    if (seen) drawTag(model, row, cell, t, model.sees(against, t) ? reference?.[t] : undefined);
    else cover(cell);
  });
}

// Clears a cell or a label.
/** @param {HTMLElement} cell */
function cover(cell) {
  if (!changed(cell, null)) return;
  cell.replaceChildren();
  mark(cell, "title", null);
  flag(cell, { later: true, columns: false, plain: false, bar: false, differs: false, was: false, fault: false });
}

/** @param {HTMLElement} label @param {string} text @param {string} [about] */
function drawLabel(label, text, about) {
  if (!changed(label, text)) return;
  setText(label, text);
  flag(label, { later: false });
  mark(label, "title", about ?? (text.length > WIDE && text));
}

/**
 * @param {Model} model
 * @param {Row} row
 * @param {HTMLElement} cell
 * @param {number} t
 * @param {number | undefined} expected
 */
function drawTag({ tags, colours }, row, cell, t, expected) {
  const k = row.tags && row.tags[t] >= 0 ? row.tags[t] : null;
  const differs = k !== null && expected !== undefined && expected !== k;
  const [text, title] = [row.texts?.[t], row.titles?.[t]];
  const [share, trained] = [row.shares?.[t], row.trained?.[t]];
  const fault = Boolean(row.faults?.includes(t));
  if (!changed(cell, k, text, title, share, trained, fault, differs)) return;
  setText(cell, text ?? (k === null ? "–" : tags[k]));
  setProperty(cell, "--tag", k === null ? "transparent" : colours[k]);
  const was = trained !== undefined && k !== null && trained !== k ? (tags[trained] ?? "–") : null;
  flag(cell, { later: false, plain: Boolean(row.texts), bar: Boolean(row.shares), differs, was, fault });
  const long = k !== null && !row.texts && tags[k].length > SHORT ? tags[k] : null; // may not fit
  mark(cell, "title", title || [long, was && `trained: ${was}`].filter(Boolean).join(", ") || null);
  if (share === undefined) return;
  setProperty(cell, "--share", `${Math.round(100 * Math.min(1, Math.abs(share)))}%`);
  flag(cell, { negative: share < 0 });
}

// Numbers side by side, in place of a row label.
/** @param {HTMLElement} label @param {string[]} texts */
export function drawColumns(label, texts) {
  if (!changed(label, ...texts)) return;
  label.replaceChildren(...texts.map((text) => html("span", text)));
  flag(label, { columns: true, later: false });
}
