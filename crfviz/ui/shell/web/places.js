// Lists that open where the reader was: tables draw themselves on a canvas that Python cannot scroll.

const ROW = 35; // pixels of a row of Streamlit's tables
const ABOVE = 3; // rows left in sight above

const scrolled = new WeakSet();

// A container with the key `row-NAME-NUMBER` holds such a table; it is scrolled once, as soon as it is drawn.
export function scrollToRows() {
  for (const list of document.querySelectorAll("[class*=st-key-row-]")) {
    const row = Number(list.className.match(/st-key-row-\S*-(\d+)/)[1]);
    const scroller = list.querySelector(".dvn-scroller");
    if (!row || !scroller || scrolled.has(scroller)) continue;
    scrolled.add(scroller);
    scroller.scrollTop = ROW * Math.max(0, row - ABOVE);
    list.scrollIntoView({ block: "nearest" });
  }
}
