// Tables of numbers: the transition matrix, and tables with a column per word. Colour says size, the number is there too.

import { changed, html, mark, set, setProperty, setText } from "./dom.js";
import { direction } from "./ghosts.js";
import { score, signed } from "./numbers.js";
import { END, START, weight } from "./model.js";

// Tables of scores reach further down than up; their winners should not drown among them.
const NEGATIVES = 3;

// A matrix over the weights of the CRF layer: rows are "from" with START on top, columns are "to" with END at the right.
// `attribute` names the cell as "from,to"; `draw` gets the model, a cell and the two names; `begin`, before all of them,
// the model.
function buildGrid(model, { attribute, label: title, begin, draw }) {
  const froms = [START, ...model.tags];
  const tos = [...model.tags, END];
  const colour = (name) => (model.tags.includes(name) ? model.colours[model.tags.indexOf(name)] : "currentColor");
  const heads = tos.map((to) => html("div", { class: "matrix-head", style: `--tag:${colour(to)}` }, [html("span", { text: to })]));
  const rows = froms.map((from) => {
    const label = html("div", { class: "matrix-label", text: from, style: `--tag:${colour(from)}` });
    const cells = tos.map((to) => (from === START && to === END ? html("div") : buildCell({ [attribute]: `${from},${to}` })));
    return { from, label, cells, element: html("div", { class: "matrix-row", role: "row" }, [label, ...cells]) };
  });
  const corner = html("div", { class: "matrix-label matrix-corner", text: "from ↓ to →" });
  const header = html("div", { class: "matrix-row matrix-header" }, [corner, ...heads]);
  const element = html("div", { class: "matrix", role: "grid", "aria-label": title }, [header, ...rows.map((row) => row.element)]);
  const hidden = (next, name) => next.tags.includes(name) && !next.shown.has(next.tags.indexOf(name));
  return {
    element,
    update(next) {
      heads.forEach((head, i) => mark(head, "hidden", hidden(next, tos[i])));
      const context = begin(next);
      for (const { from, label, cells, element: row } of rows) {
        mark(row, "hidden", hidden(next, from));
        set(label, "title", `from ${from}`);
        cells.forEach((cell, i) => {
          mark(cell, "hidden", hidden(next, tos[i]));
          if (cell.hasAttribute(attribute)) draw(next, cell, from, tos[i], context);
        });
      }
    },
  };
}

// The transition scores, with START and END; every cell can be changed. `go` moves the step that is shown, where each
// step has its own matrix.
export function buildMatrix(model, go) {
  const grid = buildGrid(model, {
    attribute: "data-cell",
    label: "Transition scores, from the row's tag to the column's tag",
    begin: largest,
    draw(next, cell, from, to, range) {
      const value = weight(next.chain, next.tags, from, to, next.into);
      const trained = weight(next.trained, next.tags, from, to, next.into);
      const edited = next.edits.transitions.has(cell.dataset.cell);
      const name = `from ${from} to ${to}`;
      if (next.display === "probability") drawNumber(cell, Math.exp(value), { range: 1, trained: Math.exp(trained), edited, name, kind: "weight" });
      else drawNumber(cell, value, { range, trained, edited, name });
    },
  });
  const caption = html("span", { class: "matrix-step-text", "aria-live": "polite" });
  const [back, on] = [["◀", "one step back", -1], ["▶", "one step on", 1]].map(([text, title, by]) => {
    const button = html("button", { type: "button", text, title });
    button.addEventListener("click", () => go(by));
    return button;
  });
  const steps = html("div", { class: "matrix-step buttons" }, [back, caption, on]);
  const element = html("div", {}, [steps, grid.element]);
  return {
    element,
    update(next) {
      mark(steps, "hidden", !next.perStep || next.T < 2);
      setText(caption, next.T < 2 ? "" : `step ${next.words[next.into - 1]} → ${next.words[next.into]}`);
      set(element, "data-into", next.into);
      [back.disabled, on.disabled] = [next.into <= 1, next.into >= next.T - 1];
      grid.update(next);
    },
  };
}

// Observed minus expected uses of every weight: the gradient of the log-likelihood.
export function buildGradient(model) {
  return buildGrid(model, {
    attribute: "data-weight",
    label: "Observed minus expected counts, from the row's tag to the column's tag",
    begin: () => null,
    draw(next, cell, from, to) {
      const [observed, difference] = ["observed", "difference"].map((name) => (next.gradient ? weight(next.gradient[name], next.tags, from, to) : NaN));
      if (!changed(cell, observed, difference)) return;
      setText(cell, Math.abs(difference) < 0.005 ? "·" : signed(difference));
      setProperty(cell, "--share", `${Math.round(65 * Math.min(1, Math.abs(difference) || 0))}%`);
      mark(cell, "data-negative", difference < 0);
      const text = Number.isNaN(difference) ? `from ${from} to ${to}: unknown` : `from ${from} to ${to}: observed ${observed} − expected ${Number((observed - difference).toPrecision(7))} = ${Number(difference.toPrecision(7))}`;
      for (const name of ["aria-label", "title"]) set(cell, name, text);
      set(cell, "aria-valuetext", text);
    },
  });
}

// A table over the words. `table`: { name, label, values, digits, scale, editable, row (outlined tag ids) }.
export function buildTable(model, name) {
  const rows = model.tags.map((tag, k) => {
    const label = html("div", { class: "label tag-name", text: tag, style: `--tag:${model.colours[k]}` });
    const cells = model.words.map((_, t) => buildCell({ "data-table": name, "data-t": t, "data-k": k }));
    return { k, label, cells, element: html("div", { class: "row", role: "row" }, [label, ...cells]) };
  });
  const caption = html("div", { class: "caption" });
  const element = html("div", { class: "heat", role: "grid" }, [caption, ...rows.map((row) => row.element)]);
  return {
    element,
    update(next) {
      const table = next.tables.find((other) => other.name === name);
      setText(caption, table.label);
      set(element, "aria-label", table.label);
      mark(element, "data-editable", Boolean(table.editable));
      for (const { k, cells, element: row } of rows) {
        mark(row, "hidden", !next.shown.has(k) || (table.kind === "change" && unchanged(table, k, next)));
        cells.forEach((cell, t) => {
          const i = t * next.K + k;
          const shown = table.kind === "score" ? (score_) => score_ : Math.exp; // of an HMM's probabilities
          const value = table.editable ? shown(next.chain.emissions[i]) : table.values[i];
          const trained = table.editable ? shown(next.trained.emissions[i]) : (table.trained?.[i] ?? value);
          const edited = Boolean(table.editable) && next.edits.emissions.has(`${t},${k}`);
          drawNumber(cell, value, { range: value < 0 && table.kind !== "change" && table.kind !== "signed" ? NEGATIVES * table.scale : table.scale, digits: table.digits, trained, edited, name: `${next.words[t]} as ${next.tags[k]}`, kind: table.kind });
          mark(cell, "data-outlined", table.outlined?.[t] === k);
          const explained = next.panels.side === "cell" && next.reading.kind === name && next.cell[0] === t && next.cell[1] === k;
          mark(cell, "data-chosen", explained || (next.asked?.[0] === t && next.asked[1] === k));
          mark(cell, "data-lit", litHere(next.lit, name, t, k));
        });
      }
    },
  };
}

function buildCell(attributes) {
  return html("div", { class: "cell", role: "spinbutton", tabindex: "-1", ...attributes });
}

function drawNumber(cell, value, { range, digits = 1, trained, edited, name, kind = "score" }) {
  const editing = cell.hasAttribute("data-editing");
  if (!changed(cell, value, range, digits, trained, edited, editing)) return;
  if (!editing) setText(cell, kind === "score" ? score(value, digits) : small(value, digits, kind));
  const share = !Number.isFinite(value) ? 0 : Math.min(1, Math.abs(value) / range);
  setProperty(cell, "--share", `${Math.round(65 * share)}%`);
  mark(cell, "data-negative", value < 0);
  mark(cell, "data-forbidden", value === -Infinity && kind === "score");
  mark(cell, "data-edited", edited);
  mark(cell, "data-change", direction(value, trained, edited ? 6 : digits));
  const full = value === -Infinity ? "forbidden" : String(Number(value.toPrecision(7)));
  const text = `${name}: ${full}${Object.is(trained, value) ? "" : `, trained ${score(trained, 4)}`}`;
  set(cell, "aria-label", text);
  set(cell, "aria-valuetext", full);
  set(cell, "title", text);
}

// A row of changes in which nothing would be written.
function unchanged({ values, digits }, k, { T, K }) {
  for (let t = 0; t < T; t++) if (Math.abs(values[t * K + k]) >= 10 ** -digits / 2) return false;
  return true;
}

// The cell goes into the number that is being explained.
function litHere(lit, name, t, k) {
  return lit?.table === name && lit.t === t && lit.shares.get(k) >= 0.01;
}

function small(value, digits, kind) {
  if (Number.isNaN(value)) return "";
  if (kind === "weight") return value === 0 || value >= 0.0095 ? String(Number(value.toFixed(2))) : value.toExponential(0);
  if (kind === "change" || kind === "signed") return Math.abs(value) < 10 ** -digits / 2 ? "·" : signed(value, digits);
  if (value === Infinity) return "∞"; // beyond 1.8e308: why one computes in logarithms
  if (value >= 1e4 || (kind === "exponent" && value !== 0 && value < 10 ** -digits / 2)) return value.toExponential(0);
  return value < 10 ** -digits / 2 ? "·" : value.toFixed(digits); // the exact number is in the cell's title
}

function largest(model) {
  let size = 1;
  for (const table of [model.chain.transitions, model.chain.start, model.chain.end]) {
    for (const value of table) if (value !== -Infinity && Math.abs(value) > size) size = Math.abs(value);
  }
  return Math.min(size, 6); // a single huge edit must not bleach all other cells
}
