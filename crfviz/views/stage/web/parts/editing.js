// Changing a number in place: type into a cell, drag it up and down, or nudge it by keys.
//
//   click or type      edit the cell; Enter or leaving it applies, Escape does not
//   drag up and down   50 pixels are one nat; the pictures follow while dragging
//   arrows             go to the next cell          Alt + up / down   nudge by 0.1 (with Shift by 1)
//   Delete             back to the trained value

import { all, closest, flag } from "../dom.js";
import { ARROWS, listenToCells, makeRoving } from "../keyboard.js";

/** @import { CellHooks } from "../types.js" */

const NATS_PER_PIXEL = 0.02;
const DRAG_STARTS_AT = 4; // pixels

// `hooks`: value(cell) -> number, text(cell) -> initial text, read(cell, typed) -> as readScore,
// preview(cell, value | undefined), commit(cell, value | null) and complain(text). null stands for the trained value,
// undefined ends a preview. `selector` matches the editable cells.
/** @param {HTMLElement} container @param {string} selector @param {CellHooks} hooks */
export function makeEditable(container, selector, hooks) {
  const typing = makeTyping(hooks);
  makeDraggable(container, selector, hooks, typing.start);
  const move = makeRoving(container, selector);
  listenToCells(container, selector, (event, cell) => {
    const { key } = event;
    if (cell.hasAttribute("data-editing")) return typing.keys(event, cell);
    if (event.altKey && (key === "ArrowUp" || key === "ArrowDown")) return () => nudge(event, cell, hooks);
    if (key in ARROWS) return () => move(cell, key);
    if (key === "Enter" || key === "F2") return () => typing.start(cell);
    if (key === "Delete" || key === "Backspace") return () => hooks.commit(cell, null);
    const types = key.length === 1 && !event.ctrlKey && !event.metaKey && key !== " ";
    return types && (() => typing.start(cell, key));
  });
}

/**
 * @param {HTMLElement} container
 * @param {string} selector
 * @param {CellHooks} hooks
 * @param {(cell: HTMLElement) => void} click
 */
function makeDraggable(container, selector, hooks, click) {
  /** @type {{ cell: HTMLElement, y: number, from: number, value: number | null } | null} */
  let drag = null;
  container.addEventListener("pointerdown", (event) => {
    const cell = closest(event, selector);
    if (!cell || event.button !== 0 || cell.hasAttribute("data-editing")) return;
    event.preventDefault(); // no text selection; focus follows on release
    for (const editing of all(container, "[data-editing]")) editing.blur();
    const value = hooks.value(cell);
    drag = { cell, y: event.clientY, from: value === -Infinity ? 0 : value, value: null };
    container.setPointerCapture(event.pointerId);
  });
  container.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const distance = drag.y - event.clientY;
    if (drag.value === null && Math.abs(distance) < DRAG_STARTS_AT) return;
    drag.value = Number((drag.from + distance * NATS_PER_PIXEL).toFixed(4));
    flag(drag.cell, { dragging: true });
    hooks.preview(drag.cell, drag.value);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    container.addEventListener(name, () => {
      if (!drag) return;
      const { cell, value } = drag;
      drag = null;
      flag(cell, { dragging: false });
      if (value === null) click(cell);
      else if (name === "pointerup") hooks.commit(cell, value);
      else hooks.preview(cell, undefined);
    });
  }
}

/** @param {CellHooks} hooks */
function makeTyping(hooks) {
  let shown = ""; // the cell's text before typing
  /** @param {HTMLElement} cell @param {string | null} [first] */
  const start = (cell, first = null) => {
    shown = cell.textContent;
    cell.setAttribute("data-editing", "true");
    cell.setAttribute("contenteditable", "plaintext-only");
    cell.textContent = first ?? hooks.text(cell);
    cell.focus();
    const selection = getSelection();
    selection?.selectAllChildren(cell);
    if (first !== null) selection?.collapseToEnd();
    cell.addEventListener("blur", () => finish(cell), { once: true });
  };
  /** @param {HTMLElement} cell @param {boolean} [cancelled] */
  const finish = (cell, cancelled = false) => {
    if (!cell.hasAttribute("data-editing")) return;
    const typed = cell.textContent;
    cell.removeAttribute("data-editing");
    cell.removeAttribute("contenteditable");
    cell.textContent = shown; // a redraw skips cells whose number has not changed
    const unchanged = typed === hooks.text(cell);
    const read = cancelled || unchanged ? {} : hooks.read(cell, typed);
    if (read.error) hooks.complain(read.error);
    else if (read.value !== undefined) hooks.commit(cell, read.value);
    else if (read.restore) hooks.commit(cell, null);
    else hooks.preview(cell, undefined);
  };
  /** @param {KeyboardEvent} event @param {HTMLElement} cell */
  const keys = (event, cell) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return null;
    return () => {
      finish(cell, event.key === "Escape");
      cell.focus();
    };
  };
  return { start, keys };
}

/** @param {KeyboardEvent} event @param {HTMLElement} cell @param {CellHooks} hooks */
function nudge({ key, shiftKey }, cell, hooks) {
  const size = (shiftKey ? 1 : 0.1) * (key === "ArrowUp" ? 1 : -1);
  const value = hooks.value(cell);
  hooks.commit(cell, Number(((value === -Infinity ? 0 : value) + size).toFixed(6)));
}
