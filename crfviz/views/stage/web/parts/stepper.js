// The walk's buttons and the text of its step; and the list of parts that can be hidden, with their keys.

import { DIRECTIONS } from "../direction.js";
import { all, button, changed, flag, hide, html, set, setText } from "../dom.js";
import { hasNoKeys } from "../keyboard.js";
import { partsOf } from "../stage/visibility.js";

/** @import { Model } from "../types.js" */

const PACE = 900; // milliseconds a step is shown while the walk plays
const NODES = { best: "best(t, k)", marginals: "marginals" };

// `act`: { go(by), show(nodes) }.
/** @param {{ go: (by: number) => void, show: (nodes: string) => void }} act */
export function buildStepper({ go, show }) {
  const text = html("div.step-text");
  const count = html("span.step-count");
  const back = [button("", () => go(-Infinity), { title: "to the start (Home)" }), button("", () => go(-1))];
  const on = [button("", () => go(1)), button("", () => go(Infinity), { title: "to the end (End)" })];
  // Plays from the start if the walk is over; stops at the last step, or when the reader steps by hand.
  let playing = 0;
  const pause = () => {
    clearInterval(playing);
    playing = 0;
    setText(play, "Play");
  };
  const start = () => {
    if (Number(element.dataset.step) === total) go(-Infinity);
    playing = setInterval(() => {
      if (element.isConnected && Number(element.dataset.step) < total) go(1);
      else pause();
    }, PACE);
    setText(play, "Pause");
  };
  const play = button("Play", () => (playing ? pause() : start()));
  for (const each of [...back, ...on]) each.addEventListener("click", pause);
  let total = 0;
  const nodes = Object.entries(NODES).map(([name, label]) => button(label, () => show(name), { "data-nodes": name }));
  const choice = html("div.buttons.choice", html("span", "nodes:"), nodes);
  const moves = html("div.buttons.moves-on", back, count, on);
  const element = html("div.stepper", html("div.buttons", moves, play), text, choice);
  /** @param {boolean} rtl */
  const turn = (rtl) => {
    const signs = rtl ? ["▶|", "▶", "◀", "|◀"] : ["|◀", "◀", "▶", "▶|"];
    [...back, ...on].forEach((each, i) => setText(each, signs[i]));
    set(back[1], "title", `previous step (${rtl ? "right" : "left"} arrow, PageUp)`);
    set(on[0], "title", `next step (${rtl ? "left" : "right"} arrow, PageDown, space)`);
  };
  return {
    element,
    /** @param {Model} model */
    update({ steps, nodes: shown, rtl }) {
      if (!steps) return;
      if (changed(element, rtl)) turn(rtl);
      setText(text, steps.at === 0 && hasNoKeys() ? `Tap ${rtl ? "◀" : "▶"} to begin.` : steps.text);
      setText(count, `${steps.at} / ${steps.of}`);
      set(element, "data-step", steps.at);
      total = steps.of;
      for (const each of back) each.disabled = steps.at === 0;
      for (const each of on) each.disabled = steps.at === steps.of;
      hide(choice, steps.choice.length < 2);
      for (const each of nodes) set(each, "aria-pressed", each.dataset.nodes === shown);
    },
  };
}

// A list of the parts that can be hidden, closed at first. In a downloaded file `saves` lists
// the downloads of the picture: [{ name, act }].
/**
 * @param {(part: string) => void} toggle
 * @param {{ name: string, act: () => void }[]} saves
 * @param {() => void} switchLetters
 * @param {(direction: string) => void} turnColumns
 */
export function buildCovers(toggle, saves, switchLetters, turnColumns) {
  const list = html("div.covers-list", { role: "group", "aria-label": "What is shown" });
  const keep = saves.map(({ name, act }) => button(`Download as ${name}`, act, { class: "save" }));
  const letters = button("single-key shortcuts", switchLetters, {
    title: "whether they do anything, here and elsewhere",
  });
  const directions = DIRECTIONS.map(([value, name]) => html("option", { value }, name));
  const direction = html("select", { "aria-label": "Direction of the columns" }, directions);
  direction.addEventListener("change", () => turnColumns(direction.value));
  const columns = html("label.columns", "columns", direction);
  const open = button("View", () => set(open, "aria-expanded", open.getAttribute("aria-expanded") !== "true"), {
    "aria-expanded": "false",
    class: "fold",
    title: "switch rows, path, sentence and score line on and off; direction of the columns",
  });
  const element = html("div.covers", open, list);
  closeOnLeaving(open, element);
  return {
    element,
    /** @param {Model} model */
    update({ payloadRows, ...next }) {
      const parts = partsOf({ ...next, rows: payloadRows });
      hide(element, parts.length === 0);
      if (changed(list, JSON.stringify(parts)))
        list.replaceChildren(
          ...parts.map((each) => switchOf(each, toggle)),
          columns,
          ...(next.letters === undefined ? keep : [letters]), // the app has a menu of downloads
        );
      for (const each of all(list, "[data-part]"))
        set(each, "aria-pressed", !next.covered.has(String(each.dataset.part)));
      set(letters, "aria-pressed", next.letters !== false);
      direction.value = next.direction || "auto";
      flag(open, { some: next.covered.size > 0 });
    },
  };
}

// Escape, and a click anywhere else, close the list.
/** @param {HTMLElement} open @param {HTMLElement} element */
function closeOnLeaving(open, element) {
  const controller = { abort: () => {} };
  const close = () => set(open, "aria-expanded", "false");
  open.addEventListener("click", () => {
    controller.abort();
    if (open.getAttribute("aria-expanded") !== "true") return;
    const watching = new AbortController();
    controller.abort = () => watching.abort();
    const options = { capture: true, signal: watching.signal };
    addEventListener("pointerdown", (event) => event.composedPath().includes(element) || close(), options);
    addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Escape" || open.getAttribute("aria-expanded") !== "true") return;
        close();
        if (event.composedPath().includes(element)) open.focus();
        event.stopPropagation();
      },
      options,
    );
  });
}

/** @param {ReturnType<typeof partsOf>[number]} part @param {(part: string) => void} toggle */
function switchOf({ part, key, name }, toggle) {
  return button([name, html("kbd", key)], () => toggle(part), { "data-part": part, title: `key ${key}` });
}
