// Tooltips: titles for keyboard users, and for everyone the backpointer of a node.

import { closest, hide, html, set, setText, targetOf } from "../dom.js";
import { START, weight } from "../model.js";
import { probability, score } from "../numbers.js";

/** @import { Model } from "../types.js" */

const GAP = 6; // pixels between an element and its tooltip
const EDITS = ["Enter", "F2", "Delete", "Backspace"]; // keys that edit a number, beside those that type

// `now` returns the current model.
/** @param {HTMLElement} root @param {() => Model} now */
export function buildTips(root, now) {
  const tip = html("div.tip", { "aria-hidden": "true", hidden: "" }); // labels and titles have the same text
  /** @type {HTMLElement | null} */
  let described = null; // the element whose tooltip is shown
  let pointer = ""; // its last place
  let resting = ""; // the place of the pointer at an edit: what is drawn below it anew is not pointed at
  /** @param {HTMLElement | null} element */
  const show = (element) => {
    const text = element && textOf(now(), element);
    described = text ? element : null;
    hide(tip, !text);
    if (!text) return;
    setText(tip, text);
    const { left, bottom } = element.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(left, window.innerWidth - tip.offsetWidth - GAP))}px`;
    tip.style.top = `${Math.min(bottom + GAP, window.innerHeight - tip.offsetHeight - GAP)}px`;
  };
  root.addEventListener("focusin", (event) => show(targetOf(event).matches(":focus-visible") ? targetOf(event) : null));
  root.addEventListener("focusout", () => show(null));
  const placeOf = (/** @type {PointerEvent} */ event) => `${event.screenX},${event.screenY}`;
  root.addEventListener("pointermove", (event) => {
    pointer = placeOf(event);
  });
  root.addEventListener("pointerover", (event) => {
    pointer = placeOf(event);
    if (pointer === resting) return;
    resting = "";
    const element = closest(event, "[data-node], .word");
    if (element) show(element);
    else if (closest(event, ".lattice-picture, .row")) show(null);
  });
  root.addEventListener("pointerleave", (event) => event.pointerType === "touch" || show(null)); // a finger stays
  // None over a number that is being dragged or typed.
  root.addEventListener("pointerdown", (event) => closest(event, "[data-cell], [data-table]") && show(null));
  const hideAtEdit = (/** @type {KeyboardEvent} */ event) => {
    const types = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
    const edits = types || EDITS.includes(event.key) || (event.altKey && event.key.startsWith("Arrow"));
    if (!edits || !closest(event, "[data-cell], [data-table]")) return;
    resting = pointer;
    show(null);
  };
  root.addEventListener("keydown", hideAtEdit, true);
  return {
    element: tip,
    // Updates the text when the numbers change.
    update() {
      if (described) show(described.isConnected ? described : null);
    },
  };
}

/** @param {Model} model @param {HTMLElement} element */
function textOf(model, element) {
  if (element.dataset.node) {
    const [t, k] = element.dataset.node.split(",").map(Number);
    const into = stepInto(model, t, k);
    if (into) set(element, "aria-description", into);
    return [element.getAttribute("aria-label"), into].filter(Boolean).join("\n");
  }
  if (element.matches(".word")) return whyTag(model, Number(element.dataset.t));
  const known = element.closest("[title]")?.getAttribute("title");
  const text = known ?? (element.matches("svg") ? element.getAttribute("aria-label") : null);
  return text === element.textContent && element.scrollWidth <= element.clientWidth ? null : text;
}

// Describes a word: its full text, its tag on the best path, and the step into it.
/** @param {Model} model @param {number} t */
function whyTag(model, t) {
  const { words, tags, results, K, sees } = model;
  const k = sees("path", t) ? results.path?.[t] : undefined;
  if (k === undefined) return words[t];
  const marginal = `marginal ${probability(results.marginals[t * K + k])}`;
  return [`${words[t]}: ${tags[k]}, ${marginal}`, stepInto(model, t, k)].filter(Boolean).join("\n");
}

// Describes the edge into a node: the predecessor on the best prefix, and the score of the step.
/** @param {Model} model @param {number} t @param {number} k */
function stepInto({ results, K, words, tags, chain, sees, offset, perStep }, t, k) {
  if (!sees("pointers", t)) return null;
  const place = offset + t; // in the sentence
  const from = place ? results.backpointers[t * K + k] : -1;
  if (place && from < 0) return "no path leads here";
  const text = `best way in: from ${tags[from] ?? START}${place ? ` at ${place} “${words[t - 1] ?? "…"}”` : ""}`;
  return chain && (t || !place || !perStep) ? `${text}, transition ${score(weight(chain, from, k, t), 2)}` : text;
}
