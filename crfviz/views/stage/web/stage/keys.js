// What the keys of a page do to its stage, beside those in cells that can be changed.

import { ARROWS } from "../keyboard.js";
import { ask, climb, go } from "./actions.js";

const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1, Home: -Infinity, End: Infinity };
const TYPING = "input:not([type=range]), textarea, select, [contenteditable], [role=combobox]";

// What to do for a key, or nothing where it is not meant for this stage.
export function keysOf(stage, event) {
  const { key } = event;
  const inside = event.composedPath()[0];
  const owner = inside.closest?.("[data-stage]"); // there may be two stages on a page
  if (event.defaultPrevented || (owner && owner !== stage.root) || inside.matches?.(TYPING)) return null;
  if (event.ctrlKey || event.metaKey) return historyKey(stage, event);
  if (event.altKey || !stage.payload) return null;
  const { panels, asks } = stage.payload;
  const node = inside.dataset?.node?.split(",").map(Number);
  if (panels.stepper && key in STEPS && !usesKey(inside, key, stage.root)) return () => go(stage, STEPS[key]);
  if (panels.stepper && (key === "ArrowUp" || key === "ArrowDown")) return () => climb(stage, ARROWS[key][1]);
  if (node && asks && (key === "Enter" || key === " ")) return () => ask(stage, ...node);
  return node && key in ARROWS && (() => focusBeside(stage, node, ARROWS[key]));
}

function historyKey(stage, { key, shiftKey }) {
  const letter = key.toLowerCase();
  if (letter !== "z" && letter !== "y") return null;
  return () => stage.emit([{ kind: letter === "y" || shiftKey ? "redo" : "undo" }]);
}

// Whether a control needs the key itself; our own buttons need the space bar only.
function usesKey(control, key, root) {
  if (control.matches?.("button") && root.contains(control)) return key === " ";
  return control.matches?.("button, a, [role=tab], input") ?? false;
}

function focusBeside({ model, frame }, [t, k], [dx, dy]) {
  frame.focusNode(t + dx, model.order[model.order.indexOf(k) + dy] ?? k);
}
