// One place for the Tab key in a grid of cells, arrows inside it.

// `selector` picks the cells; rows are [role=row]. Returns what the arrow keys should call: move(cell, key) -> moved?
export function makeRoving(container, selector) {
  let reachable = null;
  const reach = (cell) => {
    if (reachable) reachable.tabIndex = -1;
    reachable = cell;
    if (cell) cell.tabIndex = 0;
  };
  const keepInSight = () => {
    if (!reachable || reachable.closest("[hidden]")) reach([...container.querySelectorAll(selector)].find((cell) => !cell.closest("[hidden]")));
  };
  keepInSight();
  new MutationObserver(keepInSight).observe(container, { subtree: true, attributeFilter: ["hidden"] });
  container.addEventListener("focusin", (event) => {
    const cell = event.target.closest?.(selector);
    if (cell) reach(cell);
  });
  return (cell, key) => {
    const [dx, dy] = STEPS[key];
    const next = neighbour(container, selector, cell, dx, dy);
    next?.focus();
    return next;
  };
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The next visible cell in that direction, by position among the visible cells.
function neighbour(container, selector, cell, dx, dy) {
  const rows = [...container.querySelectorAll("[role=row]:not([hidden])")].map((row) => [...row.querySelectorAll(`${selector}:not([hidden])`)]);
  const y = rows.findIndex((row) => row.includes(cell));
  const x = rows[y].indexOf(cell);
  return rows[y + dy]?.[Math.min(x + dx, rows[y + dy].length - 1)];
}
