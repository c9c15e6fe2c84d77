// Scrolls lists to the current row: Python cannot scroll, and tables are drawn on a canvas.

const ROW_HEIGHT = 35; // pixels, in Streamlit's tables
const ROWS_ABOVE = 3; // visible
const USER_INPUT = ["keydown", "pointerdown", "touchstart", "wheel"];
const PAGE = "[data-testid=stMainBlockContainer]";

const scrolled = new WeakSet();

// A container with the key `row-NAME-NUMBER` holds a table on a canvas, which is scrolled once, when it is drawn. An
// HTML table marks its row.
export function scrollToRows() {
  for (const list of document.querySelectorAll("[class*=st-key-row-]")) {
    const row = Number(list.className.match(/st-key-row-\S*-(\d+)/)[1]);
    const scroller = list.querySelector(".dvn-scroller");
    if (!scroller || scrolled.has(scroller)) continue;
    scrolled.add(scroller);
    scroller.scrollTop = ROW_HEIGHT * Math.max(0, row - ROWS_ABOVE);
    keepInSight(list, "nearest");
  }
  for (const row of document.querySelectorAll(".crfviz-plain tr[aria-current]")) {
    if (scrolled.has(row)) continue;
    scrolled.add(row);
    keepInSight(row, "center");
  }
}

// Until the first user input: elements above may be drawn later and move the row.
function keepInSight(element, block) {
  const show = () => element.scrollIntoView({ block });
  const growth = new ResizeObserver(show);
  growth.observe(element.closest(PAGE));
  const stop = () => {
    growth.disconnect();
    for (const name of USER_INPUT) removeEventListener(name, stop, { capture: true });
  };
  for (const name of USER_INPUT) addEventListener(name, stop, { capture: true });
}
