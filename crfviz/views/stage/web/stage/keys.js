// Keyboard shortcuts of the stage, except those in editable cells.

import { leaveKeyOf } from "../embed.js";
import { ARROWS, source } from "../keyboard.js";
import { ask, explainWord, go, move, switchPart } from "./actions.js";
import { partOfKey } from "./visibility.js";

/** @import { Hands, Stage } from "../types.js" */

const PAGES = { PageDown: 1, PageUp: -1 };
/** @type {Record<string, number>} */
const STEPS = { ...PAGES, ArrowRight: 1, " ": 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
const TYPING = "input:not([type=range]), textarea, select, [contenteditable], [role=combobox]";
const OPEN = "[role=listbox], [role=menu], [role=dialog], :is([aria-haspopup], [role=combobox])[aria-expanded=true]";
const OWN_ARROWS =
  "[type=range], [role=slider], canvas, [data-cell], [data-table], [data-weight], [data-node], [data-word]";
const READ = ".word, .tag, .term-bar, .bar-number"; // with keyboard focus, arrows move between these

// Step keys, handled before the focused element: a clicker works with any focus, except while a text is typed or a
// list is open. `hands` comes from listenToKeys.
/** @param {Stage} stage @param {KeyboardEvent} event @param {Hands} hands */
export function stepKeyOf(stage, event, { editing, pointed }) {
  const { key } = event;
  const inside = source(event);
  if (!stage.payload?.walk || !(key in STEPS) || hasModifier(event)) return null;
  if (editing || inside.matches?.("[data-editing]") || inside.closest?.(OPEN)) return null;
  const turns = (key in PAGES || key === " ") && !event.repeat;
  const step = () => go(stage, key in ARROWS ? turned(stage, STEPS[key]) : STEPS[key], turns);
  if (key in PAGES) return step;
  if (inside.matches?.(TYPING)) return null;
  if (key !== " " && !stage.model.steps?.of) return null; // a page without steps uses the arrows for other actions
  if (!pointed && key in ARROWS && inside.matches?.(READ)) return null;
  const steps = stage.payload.panels.side === "cell"; // panels where arrows always step
  if (inside.closest?.(OWN_ARROWS) && !(steps && inside.dataset?.node)) return null;
  // after keyboard focus, controls use their own keys
  return !pointed && usesKey(inside, key, stage.root) ? null : step;
}

// Returns the action for a key; none if it is not meant for this stage.
/** @param {Stage} stage @param {KeyboardEvent} event */
export function keysOf(stage, event) {
  const { key } = event;
  const inside = source(event);
  const owner = inside.closest?.("[data-stage]"); // a page may have two stages
  if (event.defaultPrevented || (owner && owner !== stage.root) || inside.matches?.(TYPING)) return null;
  if (event.ctrlKey || event.metaKey) return historyKey(stage, event);
  if (event.altKey || !stage.payload) return null;
  if (key === "Escape") return leaveKeyOf(event);
  const { panels, asks } = stage.payload;
  const node = inside.dataset?.node?.split(",").map(Number);
  if (panels.side === "cell" && (key === "ArrowUp" || key === "ArrowDown")) return () => move(stage, 0, ARROWS[key][1]);
  if (key === "Enter" && inside.matches?.(".word")) return () => explainWord(stage, inside);
  if (node && asks && (key === "Enter" || key === " ")) return () => ask(stage, node[0], node[1]);
  if (node && key in ARROWS) return () => focusBeside(stage, node, ARROWS[key]);
  if (stage.payload.letters === false) return null; // the reader disabled single-letter keys
  const part = partOfKey(stage.payload, key);
  return part && (() => switchPart(stage, part));
}

/** @param {Stage} stage @param {KeyboardEvent} event */
function historyKey(stage, { key, shiftKey }) {
  const letter = key.toLowerCase();
  if (letter !== "z" && letter !== "y") return null;
  return () => stage.emit([{ kind: letter === "y" || shiftKey ? "redo" : "undo" }]);
}

/** @param {KeyboardEvent} event */
function hasModifier({ altKey, ctrlKey, metaKey, shiftKey }) {
  return altKey || ctrlKey || metaKey || shiftKey;
}

// Returns whether a control uses the key itself; our own buttons use only the space bar.
/** @param {Element} control @param {string} key @param {HTMLElement} root */
function usesKey(control, key, root) {
  if (control.matches?.("button") && root.contains(control)) return key === " ";
  return control.matches?.("button, a, summary, [role=tab], [role=radio], [role=switch], input") ?? false;
}

// Converts steps to the right into steps in the reading direction.
/** @param {Stage} stage @param {number} right */
function turned({ model }, right) {
  return model.rtl ? -right : right;
}

/** @param {Stage} stage @param {number[]} node @param {number[]} way */
function focusBeside(stage, [t, k], [dx, dy]) {
  const { model, frame } = stage;
  frame.focusNode(t + turned(stage, dx), model.order[model.order.indexOf(k) + dy] ?? k);
}
