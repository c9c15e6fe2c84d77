// Changing a number in place: type into a cell, drag it up and down, or nudge it by keys.
//
//   click or type      edit the cell; Enter or leaving it applies, Escape does not
//   drag up and down   50 pixels are one nat; the pictures follow while dragging
//   arrows             go to the next cell          Alt + up / down   nudge by 0.1 (with Shift by 1)
//   Delete             back to the trained value

import { makeRoving } from "./roving.js";

const NATS_PER_PIXEL = 0.02;
const DRAG_STARTS_AT = 4; // pixels

// `hooks`: value(cell) -> number, text(cell) -> what typing begins with, read(cell, typed) -> as readScore, preview(cell, value | undefined), commit(cell, value | null) and complain(text), where
// null stands for the trained value and undefined ends a preview. `selector` picks the cells that can be changed.
export function makeEditable(container, selector, hooks) {
  let drag = null;
  let shown = ""; // what the cell said before somebody typed into it
  const move = makeRoving(container, selector);

  container.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event);
    if (!cell || event.button !== 0 || cell.hasAttribute("data-editing")) return;
    event.preventDefault(); // no text selection; focus follows on release
    container.querySelector("[data-editing]")?.blur();
    drag = { cell, y: event.clientY, from: hooks.value(cell), value: null };
    container.setPointerCapture(event.pointerId);
  });

  container.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const distance = drag.y - event.clientY;
    if (drag.value === null && Math.abs(distance) < DRAG_STARTS_AT) return;
    const base = drag.from === -Infinity ? 0 : drag.from;
    drag.value = Number((base + distance * NATS_PER_PIXEL).toFixed(4));
    drag.cell.setAttribute("data-dragging", "true");
    hooks.preview(drag.cell, drag.value);
  });

  for (const name of ["pointerup", "pointercancel"]) {
    container.addEventListener(name, () => {
      if (!drag) return;
      const { cell, value } = drag;
      drag = null;
      cell.removeAttribute("data-dragging");
      if (value === null) startTyping(cell);
      else if (name === "pointerup") hooks.commit(cell, value);
      else hooks.preview(cell, undefined);
    });
  }

  container.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    if (cell.hasAttribute("data-editing")) return typingKey(event, cell);
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) nudge(event, cell);
    else if (event.key.startsWith("Arrow")) move(cell, event.key);
    else if (event.key === "Enter" || event.key === "F2") startTyping(cell);
    else if (event.key === "Delete" || event.key === "Backspace") hooks.commit(cell, null);
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== " ") startTyping(cell, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function startTyping(cell, first = null) {
    shown = cell.textContent;
    cell.setAttribute("data-editing", "true");
    cell.setAttribute("contenteditable", "plaintext-only");
    cell.textContent = first ?? hooks.text(cell);
    cell.focus();
    const selection = getSelection();
    selection.selectAllChildren(cell);
    if (first !== null) selection.collapseToEnd();
    cell.addEventListener("blur", () => finish(cell), { once: true });
  }

  function typingKey(event, cell) {
    event.stopPropagation();
    if (event.key === "Enter") finish(cell);
    else if (event.key === "Escape") finish(cell, true);
    else if (event.key === "Tab") return;
    else return;
    event.preventDefault();
    cell.focus();
  }

  function finish(cell, cancelled = false) {
    if (!cell.hasAttribute("data-editing")) return;
    const typed = cell.textContent;
    cell.removeAttribute("data-editing");
    cell.removeAttribute("contenteditable");
    cell.textContent = shown; // a redraw leaves cells alone whose number is still the same
    const unchanged = typed === hooks.text(cell);
    const read = cancelled || unchanged ? {} : hooks.read(cell, typed);
    if (read.error) hooks.complain(read.error);
    else if ("value" in read) hooks.commit(cell, read.value);
    else if (read.restore) hooks.commit(cell, null);
    else hooks.preview(cell, undefined);
  }

  function nudge(event, cell) {
    const size = (event.shiftKey ? 1 : 0.1) * (event.key === "ArrowUp" ? 1 : -1);
    const value = hooks.value(cell);
    hooks.commit(cell, Number(((value === -Infinity ? 0 : value) + size).toFixed(6)));
  }

  function cellOf(event) {
    return event.target.closest?.(selector);
  }
}
