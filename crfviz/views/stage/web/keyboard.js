// Keyboard handling: keys of a host, keys in the cells of a container, and arrows between cells.

import { all, closest, TEXT_FIELD } from "./dom.js";

/** @import { Act, Hands } from "./types.js" */

/** @type {Record<string, [number, number]>} */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const LINES = ".row, .matrix-row, .bar-row, .term, .entity-line";

// The text field being edited, and whether the focus came from the pointer.
/** @type {{ field: Element | null, pointed: boolean }} */
const hands = { field: null, pointed: false };

// Listens to the keys of `target`, the document or an element around the focus. `answer` gets each event and returns
// the action for it, or nothing. `first` does the same before the focused element gets the event, and also gets {
// editing, pointed }. Returns a function that stops listening.
/**
 * @param {HTMLElement | Document} target
 * @param {(event: KeyboardEvent) => Act} answer
 * @param {(event: KeyboardEvent, hands: Hands) => Act} [first]
 */
export function listenToKeys(target, answer, first = () => null) {
  /** @param {Event} pressed */
  const early = (pressed) => {
    const event = /** @type {KeyboardEvent} */ (pressed);
    const own = first(event, { editing: hands.field === source(event), pointed: hands.pointed });
    if (!own) return;
    event.stopImmediatePropagation(); // a page may have two stages, and only one opens the next page
    act(event, own);
  };
  /** @param {Event} event */
  const late = (event) => act(event, answer(/** @type {KeyboardEvent} */ (event)));
  target.addEventListener("keydown", early, true);
  target.addEventListener("keydown", late);
  return () => {
    target.removeEventListener("keydown", early, true);
    target.removeEventListener("keydown", late);
  };
}

// Editing ends when the text is applied or the field loses the focus. This listener is never removed.
function watchHands() {
  /** @param {string} name @param {(event: Event) => void} act */
  const watch = (name, act) => document.addEventListener(name, act, true);
  watch("input", (event) => {
    if (source(event).matches?.(TEXT_FIELD)) hands.field = source(event);
  });
  watch("focusout", () => {
    hands.field = null;
  });
  watch("pointerdown", () => {
    hands.pointed = true;
  });
  watch("keydown", (event) => {
    const { key, ctrlKey } = /** @type {KeyboardEvent} */ (event);
    if (key === "Tab") hands.pointed = false;
    if (key === "Enter" && (ctrlKey || !source(event).matches?.("textarea"))) hands.field = null;
  });
}

watchHands();

// The element where an event began, also inside a shadow root; the document has no `matches`.
/** @param {Event} event */
export function source(event) {
  return /** @type {HTMLElement} */ (event.composedPath()[0]);
}

/** @param {Event} event @param {Act} answer */
function act(event, answer) {
  if (!answer) return;
  event.preventDefault();
  answer();
}

// Returns whether this is a phone or tablet without a keyboard.
export function hasNoKeys() {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

// Listens to keys in the cells that `selector` matches. answer(event, cell) returns an action, which may return false
// to leave the key to others.
/**
 * @param {HTMLElement} container
 * @param {string} selector
 * @param {(event: KeyboardEvent, cell: HTMLElement) => Act} answer
 */
export function listenToCells(container, selector, answer) {
  container.addEventListener("keydown", (event) => {
    const cell = closest(event, selector);
    const act = cell && answer(event, cell);
    if (!act || act() === false) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// Moves between the cells of a read-only table by the arrow keys.
/** @param {HTMLElement} table @param {string} selector */
export function readWithArrows(table, selector) {
  const move = makeRoving(table, selector);
  listenToCells(table, selector, ({ key }, cell) => key in ARROWS && (() => Boolean(move(cell, key))));
}

// A roving tabindex: one tab stop in a grid of cells, with arrow keys inside. `selector` matches the cells, LINES the
// rows. Returns move(cell, key), which moves the focus and returns the newly focused cell, if any.
/** @param {HTMLElement} container @param {string} selector */
export function makeRoving(container, selector) {
  /** @type {HTMLElement | undefined} */
  let reachable;
  /** @param {HTMLElement | undefined} cell */
  const reach = (cell) => {
    if (reachable) reachable.tabIndex = -1;
    reachable = cell;
    if (cell) cell.tabIndex = 0;
  };
  const keepInSight = () => {
    if (reachable && container.contains(reachable) && !reachable.closest("[hidden]")) return;
    reach(all(container, selector).find((cell) => !cell.closest("[hidden]")));
  };
  keepInSight();
  const changes = { subtree: true, childList: true, attributeFilter: ["hidden"] };
  new MutationObserver(keepInSight).observe(container, changes);
  container.addEventListener("focusin", (event) => {
    const cell = closest(event, selector);
    if (cell) reach(cell);
  });
  /** @param {HTMLElement} cell @param {string} key */
  return (cell, key) => {
    const next = neighbour(container, selector, cell, ARROWS[key]);
    next?.focus();
    return next;
  };
}

// Returns the next visible cell in that direction, by position among the visible cells. Columns may run from right to
// left.
/** @param {HTMLElement} container @param {string} selector @param {HTMLElement} cell @param {[number, number]} way */
function neighbour(container, selector, cell, [dx, dy]) {
  /** @param {HTMLElement} parent @param {string} kind */
  const shown = (parent, kind) => all(parent, `:is(${kind}):not([hidden])`);
  const every = shown(container, LINES).map((row) => shown(row, selector));
  const rows = every.filter((row) => row.length);
  const y = rows.findIndex((row) => row.includes(cell));
  const rtl = cell.closest("[dir=rtl], [dir=ltr]")?.getAttribute("dir") === "rtl";
  const x = rows[y].indexOf(cell) + (rtl ? -dx : dx);
  return rows[y + dy]?.[Math.min(x, rows[y + dy].length - 1)];
}
