// The walk's buttons and what its step says; and what can be switched off, with the keys that do it.

import { all, button, changed, flag, hide, html, set, setText } from "../dom.js";
import { hasNoKeys } from "../keyboard.js";
import { partsOf } from "../stage/visibility.js";

/** @import { Model } from "../types.js" */

const TAP = "Tap ▶ to begin.";
const NODES = { best: "best(t, k)", marginals: "marginals" };

// `act`: { go(by), show(nodes) }.
/** @param {{ go: (by: number) => void, show: (nodes: string) => void }} act */
export function buildStepper({ go, show }) {
  const text = html("div.step-text");
  const count = html("span.step-count");
  const back = [
    button("|◀", () => go(-Infinity), { title: "to the start (Home)" }),
    button("◀", () => go(-1), { title: "previous step (left arrow, PageUp)" }),
  ];
  const on = [
    button("▶", () => go(1), { title: "next step (right arrow, PageDown, space)" }),
    button("▶|", () => go(Infinity), { title: "to the end (End)" }),
  ];
  const nodes = Object.entries(NODES).map(([name, label]) => button(label, () => show(name), { "data-nodes": name }));
  const choice = html("div.buttons.choice", html("span", "nodes:"), nodes);
  const element = html("div.stepper", html("div.buttons", back, count, on), text, choice);
  return {
    element,
    /** @param {Model} model */
    update({ steps, nodes: shown }) {
      if (!steps) return;
      setText(text, steps.at === 0 && hasNoKeys() ? TAP : steps.text);
      setText(count, `${steps.at} / ${steps.of}`);
      set(element, "data-step", steps.at);
      for (const each of back) each.disabled = steps.at === 0;
      for (const each of on) each.disabled = steps.at === steps.of;
      hide(choice, steps.choice.length < 2);
      for (const each of nodes) set(each, "aria-pressed", each.dataset.nodes === shown);
    },
  };
}

// A list of the parts that can be switched off, closed at first; under them in a copy `saves`, what
// downloads the picture: [{ name, act }].
/**
 * @param {(part: string) => void} toggle
 * @param {{ name: string, act: () => void }[]} saves
 * @param {() => void} switchLetters
 */
export function buildCovers(toggle, saves, switchLetters) {
  const list = html("div.covers-list", { role: "group", "aria-label": "What is shown" });
  const keep = saves.map(({ name, act }) => button(`Download as ${name}`, act, { class: "save" }));
  const letters = button("single-key shortcuts", switchLetters, {
    title: "whether they do anything, here and elsewhere",
  });
  const open = button("View", () => set(open, "aria-expanded", open.getAttribute("aria-expanded") !== "true"), {
    "aria-expanded": "false",
    class: "fold",
    title: "switch rows, path, sentence and score line on and off",
  });
  const element = html("div.covers", open, list);
  return {
    element,
    /** @param {Model} model */
    update({ payloadRows, ...next }) {
      const parts = partsOf({ ...next, rows: payloadRows });
      hide(element, parts.length === 0);
      if (changed(list, JSON.stringify(parts)))
        list.replaceChildren(
          ...parts.map((each) => switchOf(each, toggle)),
          ...(next.letters === undefined ? keep : [letters]), // the app has a menu of downloads
        );
      for (const each of all(list, "[data-part]"))
        set(each, "aria-pressed", !next.covered.has(String(each.dataset.part)));
      set(letters, "aria-pressed", next.letters !== false);
      flag(open, { some: next.covered.size > 0 });
    },
  };
}

/** @param {ReturnType<typeof partsOf>[number]} part @param {(part: string) => void} toggle */
function switchOf({ part, key, name }, toggle) {
  return button([name, html("kbd", key)], () => toggle(part), { "data-part": part, title: `key ${key}` });
}
