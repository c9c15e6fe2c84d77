// The strip over a window of a long sentence: all words, the best tags as bands, the marginals below, and the position
// of the window. It is a slider: the arrows, a click and a drag move the window.

import { changed, html, set, setProperty, setText } from "../dom.js";
import { probability } from "../numbers.js";

/** @import { Model } from "../types.js" */

const MAX_COLUMNS = 1200; // columns, each of several words
const [BAND, ROW] = [12, 4]; // pixels of the bands, and of a row of marginals
const MAX_ROWS = 12; // tags with a row: those with the most mass

// `move` gets the first word of the window.
/** @param {(first: number) => void} move */
export function buildOverview(move) {
  const canvas = html("canvas", { "aria-hidden": "true" });
  const slider = html("input", { type: "range", min: 0, "aria-label": "Window of the sentence" });
  const place = html("span.overview-place");
  /** @type {Model} */
  let model;
  /** @type {string | null} */
  let asked = null; // the requested position, until the window arrives
  slider.addEventListener("change", () => {
    asked = slider.value;
    move(firstOf(model, Number(asked)));
  });
  slider.addEventListener("pointermove", (event) => {
    const { left, right, width } = slider.getBoundingClientRect();
    const passed = model.rtl ? right - event.clientX : event.clientX - left;
    set(slider, "title", textAt(model, Math.floor((passed / width) * model.total)));
  });
  const strip = html("div.overview-strip", canvas, slider);
  return {
    element: html("div.overview", strip, place),
    slider,
    /** @param {Model} next */
    update(next) {
      model = next;
      const { T, total, offset, words } = next;
      const text = `${(offset + 1).toLocaleString("en")}–${(offset + T).toLocaleString("en")}`;
      set(slider, "max", Math.ceil((total - T) / stepOf(next)));
      set(strip, "dir", next.rtl ? "rtl" : "ltr");
      slider.value = asked ?? String(Math.ceil(offset / stepOf(next)));
      set(slider, "aria-valuetext", `words ${text} of ${total}, from “${words[0]}”`);
      setProperty(slider, "--share", `${(100 * T) / total}%`);
      setText(place, `${text} of ${total.toLocaleString("en")}`);
      const numbers = next.solved ?? next.overview;
      if (numbers && changed(canvas, numbers)) paint(canvas, next);
    },
  };
}

// Words per slider position.
/** @param {Pick<Model, "T">} model */
function stepOf({ T }) {
  return Math.max(1, Math.floor(T / 2));
}

/** @param {Model} model @param {number} place */
function firstOf(model, place) {
  return Math.min(place * stepOf(model), model.total - model.T);
}

// The best path and the marginals of all words.
/** @param {Pick<Model, "solved" | "overview">} model */
function wholeOf({ solved, overview }) {
  return solved ? { path: solved.rows.viterbi, marginals: solved.marginals } : overview;
}

/** @param {Model} model @param {number} t */
function textAt(model, t) {
  const { tags, K, total } = model;
  const { path, marginals } = wholeOf(model) ?? {};
  const k = path?.[t];
  if (!marginals || k === undefined) return "";
  return `word ${t + 1} of ${total}: ${tags[k]}, marginal ${probability(marginals[t * K + k])}`;
}

// The share of every tag in each column: { best, marginals }, flat: [column * K + k]. Column sizes differ by at most
// one word; each word is in one column.
/** @param {Pick<Model, "K" | "total" | "solved" | "overview">} model @param {number} columns */
export function sharesIn(model, columns) {
  const { K, total } = model;
  const [best, marginals] = [new Float64Array(columns * K), new Float64Array(columns * K)];
  const { path, marginals: all } = wholeOf(model) ?? {};
  for (let column = 0; column < columns; column++) {
    const [from, to] = [column, column + 1].map((edge) => Math.round((edge * total) / columns));
    for (let t = from; t < to; t++) {
      if (path) best[column * K + path[t]] += 1 / (to - from);
      for (let k = 0; k < K; k++) marginals[column * K + k] += (all?.[t * K + k] ?? 0) / (to - from);
    }
  }
  return { best, marginals };
}

// The tags with a row: the most probable ones of the sentence, in tag order.
/** @param {Float64Array} marginals @param {number} K */
function rowsOf(marginals, K) {
  const mass = new Float64Array(K);
  marginals.forEach((share, i) => {
    mass[i % K] += share;
  });
  const ranked = Array.from(mass.keys()).sort((a, b) => mass[b] - mass[a]);
  return ranked.slice(0, MAX_ROWS).sort((a, b) => a - b);
}

/** @param {HTMLCanvasElement} canvas @param {Model} model */
function paint(canvas, model) {
  const { K, total, colours } = model;
  const columns = Math.min(MAX_COLUMNS, total);
  const { best, marginals } = sharesIn(model, columns);
  const rows = rowsOf(marginals, K);
  Object.assign(canvas, { width: columns, height: BAND + ROW * rows.length });
  const pen = canvas.getContext("2d");
  if (!pen) return; // the browser draws no canvas
  for (let k = 0; k < K; k++) {
    pen.fillStyle = colours[k];
    const row = rows.indexOf(k);
    for (let column = 0; column < columns; column++) {
      const i = column * K + k;
      if (best[i]) {
        const above = best.subarray(column * K, i).reduce((sum, share) => sum + share, 0);
        pen.globalAlpha = 1;
        pen.fillRect(column, BAND * above, 1, BAND * best[i]);
      }
      if (row >= 0 && marginals[i] > 0.01) {
        pen.globalAlpha = marginals[i];
        pen.fillRect(column, BAND + ROW * row, 1, ROW);
      }
    }
  }
}
