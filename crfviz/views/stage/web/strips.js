// Rows of tags under the words: one decoder, one path or one sample a row. A cell that differs from the
// reference row has a dashed red frame.

import { changed, html, mark, setProperty, setText } from "./dom.js";

export function buildStrips(model) {
  const element = html("div", { class: "strips", role: "table", "aria-label": "The tags each decoder chooses" });
  let rows = [];
  // Rows come and go with the edits; the rest of the stage, and the focus in it, must survive that.
  const fit = (next) => {
    if (rows.length === next.rows.length && rows.every((row, i) => row.id === next.rows[i].id)) return;
    rows = next.rows.map((row) => buildRow(next, row.id));
    element.replaceChildren(...rows.map((row) => row.element));
  };
  fit(model);
  return {
    element,
    update(next) {
      fit(next);
      rows.forEach((row, i) => drawRow(next, next.rows[i], row));
    },
  };
}

function buildRow(model, id) {
  const label = html("div", { class: "label" });
  const cells = model.words.map((_, t) => html("div", { class: "tag", "data-row": id, "data-t": t }));
  return { id, label, cells, element: html("div", { class: "row strip", role: "row" }, [label, ...cells]) };
}

function drawRow(model, row, { label, cells, element }) {
  if (row.columns) drawColumns(label, row.columns);
  else setText(label, row.value ? `${row.label}  ${row.value}` : row.label);
  mark(element, "data-strong", row.id === model.reference);
  mark(element, "data-plain", Boolean(row.texts));
  const reference = model.rows.find((other) => other.id === (row.against ?? model.reference))?.tags;
  cells.forEach((cell, t) => {
    const k = row.tags ? row.tags[t] : null;
    const differs = k !== null && reference && reference[t] !== k;
    if (!changed(cell, k, row.texts?.[t], row.titles?.[t], row.shares?.[t], row.trained?.[t], row.faults?.includes(t), differs)) return;
    setText(cell, row.texts ? row.texts[t] : k === null ? "–" : model.tags[k]);
    setProperty(cell, "--tag", k === null ? "transparent" : model.colours[k]);
    mark(cell, "data-plain", Boolean(row.texts));
    mark(cell, "data-bar", Boolean(row.shares));
    if (row.shares) {
      setProperty(cell, "--share", `${Math.round(100 * Math.min(1, Math.abs(row.shares[t])))}%`);
      mark(cell, "data-negative", row.shares[t] < 0);
    }
    mark(cell, "data-differs", Boolean(differs));
    const was = row.trained && k !== null && row.trained[t] !== k ? model.tags[row.trained[t]] : null;
    mark(cell, "data-was", was);
    mark(cell, "title", row.titles?.[t] || (was && `trained: ${was}`));
    mark(cell, "data-fault", Boolean(row.faults?.includes(t)));
  });
}

// Numbers side by side where other rows have their label.
export function drawColumns(label, texts) {
  if (!changed(label, ...texts)) return;
  label.replaceChildren(...texts.map((text) => html("span", { text })));
  mark(label, "data-columns");
}
