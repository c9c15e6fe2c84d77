// The panels around the word columns: the ranked tags of a word, and the controls under the matrix.

import { button, changed, flag, hide, html, present, set, setProperty, setText } from "../dom.js";
import { hasNoKeys } from "../keyboard.js";
import { marginalText, percent, probability } from "../numbers.js";
import { withoutKeys } from "../stage/visibility.js";
import { direction, drawTick } from "./cells.js";

/** @import { Model } from "../types.js" */

// The tags of one word by marginal, largest first.
/** @param {Model} model */
export function buildBars(model) {
  const title = html("div.side-title");
  const bar = () =>
    html("div.bar-row", html("span.bar-name"), html("span.bar"), html("span.bar-number", { tabindex: -1 }));
  const rows = model.tags.map(bar);
  const foot = html("div.side-note.formula", { title: "p = exp(α + β − log Z)" });
  const content = html("div", title, html("div.ranked", rows), foot);
  return {
    element: html("section.side-panel.bars", { "aria-live": "polite" }, content),
    /** @param {Model} next */
    update(next) {
      const [t, chosen] = next.cell;
      present(content, next.sees("marginals", t));
      setText(foot, `p(${next.tags[chosen]}) = ${marginalText(next, t, chosen)}`);
      setText(title, `“${next.words[t]}”`);
      const ranked = next.tags.map((_, k) => ({ k, marginal: next.results.marginals[t * next.K + k] }));
      ranked.sort((a, b) => b.marginal - a.marginal || a.k - b.k);
      rows.forEach((row, i) => drawBar(next, row, t, ranked[i]));
    },
  };
}

/** @param {Model} model @param {HTMLElement} row @param {number} t @param {{ k: number, marginal: number }} ranked */
function drawBar({ tags, colours, ghost, K }, row, t, { k, marginal }) {
  const [name, bar, number] = row.children;
  const before = ghost?.marginals[t * K + k];
  setText(name, tags[k]);
  setProperty(row, "--tag", colours[k]);
  setProperty(bar, "--length", percent(marginal));
  drawTick(bar, before ?? null, `trained ${before}`);
  flag(number, { change: direction(marginal, before, 2) });
  setText(number, marginal === 0 ? "0" : probability(marginal));
  const was = before === undefined ? "" : `, trained ${before.toPrecision(6)}`;
  set(row, "title", `${tags[k]}: ${marginal.toPrecision(6)}${was}`);
}

/**
 * @typedef {object} Controls
 * @property {(value: number, done: boolean, clear?: boolean) => void} strength
 * @property {(kind: "reset" | "undo" | "redo") => void} preset
 * @property {() => void} constrained
 */

// Under the matrix: the strength of the CRF, and buttons for frequent actions.
/** @param {Controls} acts */
export function buildControls({ strength, preset, constrained }) {
  const value = html("output.strength-value");
  const slider = html("input", { type: "range", min: 0, max: 2, step: 0.05, "data-strength": "" });
  set(slider, "aria-label", "CRF strength");
  slider.addEventListener("input", () => strength(Number(slider.value), false));
  slider.addEventListener("change", () => strength(Number(slider.value), true));
  const rules = button("BIO rules", constrained, { title: "forbid what BIO forbids" });
  const buttons = [
    button("all zero", () => strength(0, true, true), { title: "every transition 0: Viterbi becomes independent" }),
    button("as trained", () => preset("reset"), { title: "drop every edit" }),
    button("undo", () => preset("undo"), { title: "Ctrl+Z" }),
    button("redo", () => preset("redo"), { title: "Ctrl+Shift+Z" }),
    rules,
  ];
  const message = html("div.message", { role: "status" });
  const marks = html("div.marks", { "aria-hidden": "true" });
  const line = html("label.strength", html("span", "CRF strength"), html("span.track", slider, marks), value);
  const flips = html("div.flips", { tabindex: 0 });
  return {
    element: html("div.controls", line, flips, html("div.buttons", buttons), message),
    /** @param {Model} next */
    update(next) {
      const { strength: now } = next.edits;
      if (slider.value !== String(now)) slider.value = String(now);
      setText(value, now.toFixed(2));
      if (changed(marks, JSON.stringify(next.marks))) marks.replaceChildren(...next.marks.map(flipMark));
      hide(flips, next.marks.length === 0);
      setText(flips, `the best path flips at ${next.marks.map(([at]) => at.toFixed(2)).join(", ")}`);
      set(flips, "title", next.marks.map(([at, label]) => `${at.toFixed(3)}: ${label}`).join("\n"));
      hide(rules, next.constrained === null);
      set(rules, "aria-pressed", Boolean(next.constrained));
      setText(rules, `BIO rules: ${next.constrained ? "on" : "off"}`);
      const hint = hasNoKeys() ? withoutKeys(next.hint) : next.hint;
      setText(message, next.message ?? (next.ruler ? "" : hint)); // a ruler needs the space
      flag(message, { problem: Boolean(next.message) });
    },
  };
}

// A tick on the slider, at the strength where the best path flips.
/** @param {[number, string]} flip */
function flipMark([at, label]) {
  return html("span.flip-mark", { "data-flip": at, title: label, style: `--at:${at / 2}` });
}
