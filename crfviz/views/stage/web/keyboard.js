// The one place that listens to keys: for a host, for the cells of a container, and arrows that go from cell to cell.

export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const LINES = ".row, .matrix-row, .bar-row, .term, .entity-line";
const TEXT = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable]";

// What the reader's hands are at: the text being typed into, and whether the focus came by the pointer.
const hands = { field: null, pointed: false };

// `target` is whose keys these are: the document, or an element that has the focus in it. `answer` gets each event and
// returns what to do; nothing where the key is not ours. `first` is asked before whatever has the focus, and gets
// beside the event { editing, pointed }. Returns how to stop.
export function listenToKeys(target, answer, first = () => null) {
  const early = (event) => {
    const own = first(event, { editing: hands.field === source(event), pointed: hands.pointed });
    if (!own) return;
    event.stopImmediatePropagation(); // there may be two stages on a page, and one turns it
    act(event, own);
  };
  const late = (event) => act(event, answer(event));
  target.addEventListener("keydown", early, true);
  target.addEventListener("keydown", late);
  return () => {
    target.removeEventListener("keydown", early, true);
    target.removeEventListener("keydown", late);
  };
}

// A text is no longer edited once it is applied or left. Stages come and go; this one listens as long as the page.
function watchHands() {
  const watch = (name, act) => document.addEventListener(name, act, true);
  watch("input", (event) => {
    if (source(event).matches?.(TEXT)) hands.field = source(event);
  });
  watch("focusout", () => {
    hands.field = null;
  });
  watch("pointerdown", () => {
    hands.pointed = true;
  });
  watch("keydown", (event) => {
    const { key, ctrlKey } = event;
    if (key === "Tab") hands.pointed = false;
    if (key === "Enter" && (ctrlKey || !source(event).matches?.("textarea"))) hands.field = null;
  });
}

watchHands();

function source(event) {
  return event.composedPath()[0];
}

function act(event, answer) {
  if (!answer) return;
  event.preventDefault();
  answer();
}

// Whether this is a telephone or a tablet: a finger, and no keys to press.
export function hasNoKeys() {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

// The same for keys in one of the cells that `selector` picks: answer(event, cell) returns what to do, and that may
// refuse the key with false.
export function listenToCells(container, selector, answer) {
  container.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.(selector);
    const act = cell && answer(event, cell);
    if (!act || act() === false) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// Tables that cannot be changed: arrows go from cell to cell.
export function readWithArrows(table, selector) {
  const move = makeRoving(table, selector);
  listenToCells(table, selector, ({ key }, cell) => key in ARROWS && (() => Boolean(move(cell, key))));
}

// One place for the Tab key in a grid of cells, arrows inside it. `selector` picks the cells; LINES are the rows.
// Returns what the arrow keys should call: move(cell, key) -> the cell that has the focus now, if there is one.
export function makeRoving(container, selector) {
  let reachable = null;
  const reach = (cell) => {
    if (reachable) reachable.tabIndex = -1;
    reachable = cell;
    if (cell) cell.tabIndex = 0;
  };
  const keepInSight = () => {
    if (reachable && container.contains(reachable) && !reachable.closest("[hidden]")) return;
    reach([...container.querySelectorAll(selector)].find((cell) => !cell.closest("[hidden]")));
  };
  keepInSight();
  const changes = { subtree: true, childList: true, attributeFilter: ["hidden"] };
  new MutationObserver(keepInSight).observe(container, changes);
  container.addEventListener("focusin", (event) => {
    const cell = event.target.closest?.(selector);
    if (cell) reach(cell);
  });
  return (cell, key) => {
    const next = neighbour(container, selector, cell, ARROWS[key]);
    next?.focus();
    return next;
  };
}

// The next visible cell in that direction, by position among the visible cells.
function neighbour(container, selector, cell, [dx, dy]) {
  const shown = (parent, kind) => [...parent.querySelectorAll(`:is(${kind}):not([hidden])`)];
  const every = shown(container, LINES).map((row) => shown(row, selector));
  const rows = every.filter((row) => row.length);
  const y = rows.findIndex((row) => row.includes(cell));
  const x = rows[y].indexOf(cell);
  return rows[y + dy]?.[Math.min(x + dx, rows[y + dy].length - 1)];
}
