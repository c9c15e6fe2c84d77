// Lists that open where the reader was: Python cannot scroll, and tables draw themselves on a canvas.

const ROW = 35; // pixels of a row of Streamlit's tables
const ABOVE = 3; // rows left in sight above
const HANDS = ["keydown", "pointerdown", "touchstart", "wheel"];
const PAGE = "[data-testid=stMainBlockContainer]";

const scrolled = new WeakSet();

// A container with the key `row-NAME-NUMBER` holds a table on a canvas; it is scrolled once, as soon as it is drawn. A
// table of HTML marks its row.
export function scrollToRows() {
  for (const list of document.querySelectorAll("[class*=st-key-row-]")) {
    const row = Number(list.className.match(/st-key-row-\S*-(\d+)/)[1]);
    const scroller = list.querySelector(".dvn-scroller");
    if (!scroller || scrolled.has(scroller)) continue;
    scrolled.add(scroller);
    scroller.scrollTop = ROW * Math.max(0, row - ABOVE);
    keepInSight(list, "nearest");
  }
  for (const row of document.querySelectorAll(".crfviz-plain tr[aria-current]")) {
    if (scrolled.has(row)) continue;
    scrolled.add(row);
    keepInSight(row, "center");
  }
}

// Until the reader does something: what stands above may come later, and moves it.
function keepInSight(element, block) {
  const show = () => element.scrollIntoView({ block });
  const growth = new ResizeObserver(show);
  growth.observe(element.closest(PAGE));
  const stop = () => {
    growth.disconnect();
    for (const name of HANDS) removeEventListener(name, stop, { capture: true });
  };
  for (const name of HANDS) addEventListener(name, stop, { capture: true });
}
