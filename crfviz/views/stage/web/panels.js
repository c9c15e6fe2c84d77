// The panels around the word columns: how a word's tags rank, the controls under the matrix, the stepper.

import { changed, html, mark, set, setProperty, setText } from "./dom.js";
import { drawTick, markChange } from "./ghosts.js";
import { marginalText, probability } from "./numbers.js";

// The tags of one word by marginal, largest first.
export function buildBars(model) {
  const title = html("div", { class: "side-title" });
  const rows = model.tags.map(() => {
    const [name, bar, number] = [html("span", { class: "bar-name" }), html("span", { class: "bar" }), html("span", { class: "bar-number" })];
    return { name, bar, number, element: html("div", { class: "bar-row" }, [name, bar, number]) };
  });
  const foot = html("div", { class: "side-note formula", title: "p = exp(α + β − log Z)" });
  const element = html("section", { class: "side-panel bars", "aria-live": "polite" }, [title, ...rows.map((row) => row.element), foot]);
  return {
    element,
    update(next) {
      const [t, chosen] = next.cell;
      setText(foot, `p(${next.tags[chosen]}) = ${marginalText(next, t, chosen)}`);
      setText(title, `“${next.words[t]}”`);
      const ranked = next.tags.map((_, k) => ({ k, marginal: next.results.marginals[t * next.K + k] }));
      ranked.sort((a, b) => b.marginal - a.marginal || a.k - b.k);
      rows.forEach(({ name, bar, number, element: row }, i) => {
        const { k, marginal } = ranked[i];
        setText(name, next.tags[k]);
        setProperty(row, "--tag", next.colours[k]);
        setProperty(bar, "--length", `${(100 * marginal).toFixed(2)}%`);
        const before = next.ghost?.marginals[t * next.K + k];
        drawTick(bar, before ?? null, `trained ${before}`);
        markChange(number, marginal, before, 2);
        setText(number, marginal === 0 ? "0" : probability(marginal));
        const was = before === undefined ? "" : `, trained ${before.toPrecision(6)}`;
        set(row, "title", `${next.tags[k]}: ${marginal.toPrecision(6)}${was}`);
      });
    },
  };
}

// Under the matrix: the strength of the CRF, and buttons for what is asked most.
export function buildControls(model, { strength, preset, constrained }) {
  const value = html("output", { class: "strength-value" });
  const slider = html("input", { type: "range", min: "0", max: "2", step: "0.05", "aria-label": "CRF strength", "data-strength": "" });
  slider.addEventListener("input", () => strength(Number(slider.value), false));
  slider.addEventListener("change", () => strength(Number(slider.value), true));
  const buttons = [
    ["all zero", "every transition 0: Viterbi becomes greedy", () => strength(0, true, true)],
    ["as trained", "drop every edit", () => preset("reset")],
    ["undo", "Ctrl+Z", () => preset("undo")],
    ["redo", "Ctrl+Shift+Z", () => preset("redo")],
  ].map(([text, title, act]) => button(text, title, act));
  const rules = button("BIO rules", "forbid what BIO forbids", () => constrained());
  const message = html("div", { class: "message", role: "status" });
  const marks = html("div", { class: "marks", "aria-hidden": "true" });
  const track = html("span", { class: "track" }, [slider, marks]);
  const line = html("label", { class: "strength" }, [html("span", { text: "CRF strength" }), track, value]);
  const flips = html("div", { class: "flips" });
  const element = html("div", { class: "controls" }, [line, flips, html("div", { class: "buttons" }, [...buttons, rules]), message]);
  return {
    element,
    update(next) {
      if (slider.value !== String(next.edits.strength)) slider.value = next.edits.strength;
      setText(value, next.edits.strength.toFixed(2));
      if (changed(marks, JSON.stringify(next.marks))) marks.replaceChildren(...next.marks.map(flipMark));
      mark(flips, "hidden", next.marks.length === 0);
      setText(flips, `the best path flips at ${next.marks.map(([at]) => at.toFixed(2)).join(", ")}`);
      set(flips, "title", next.marks.map(([at, label]) => `${at.toFixed(3)}: ${label}`).join("\n"));
      mark(rules, "hidden", next.constrained === null);
      set(rules, "aria-pressed", Boolean(next.constrained));
      setText(rules, next.constrained ? "BIO rules: on" : "BIO rules: off");
      setText(message, next.message ?? next.hint ?? "");
      mark(message, "data-problem", Boolean(next.message));
    },
  };
}

// A tick on the slider, under the strength at which the best path flips.
function flipMark([at, label]) {
  return html("span", { class: "flip-mark", "data-flip": at, title: label, style: `--at:${at / 2}` });
}

// Walking through Viterbi: forward over the columns, then back along the backpointers.
export function buildStepper(model, go) {
  const text = html("div", { class: "step-text", "aria-live": "polite" });
  const buttons = [
    ["|◀", "to the start (Home)", () => go(-Infinity)],
    ["◀", "one step back (left arrow, PageUp)", () => go(-1)],
    ["▶", "one step on (right arrow, PageDown)", () => go(1)],
    ["▶|", "to the end (End)", () => go(Infinity)],
  ].map(([label, title, act]) => button(label, title, act));
  const element = html("div", { class: "stepper" }, [html("div", { class: "buttons" }, buttons), text]);
  return {
    element,
    update(next) {
      const { at, of } = next.stepping;
      setText(text, next.stepping.text);
      set(element, "data-step", at);
      buttons.forEach((element_, i) => (element_.disabled = i < 2 ? at === 1 : at === of));
    },
  };
}

function button(text, title, act) {
  const element = html("button", { type: "button", text, title });
  element.addEventListener("click", act);
  return element;
}
