// The links to the pages open what is on the screen. They are drawn with the frame around a page; what an edit changes
// in them stands in the address, and they take it from there: drawn anew by Python they were a quarter of what an edit
// costs a server. Streamlit itself would follow such a link with the query that it drew, for which the way back had a
// place: Python turns the page instead.

import { whenWritten } from "./router.js";

const PAGES = ".st-key-pages a";

const taken = new WeakSet(); // links with a query from the address

const parsed = (query) => new URLSearchParams(query).toString(); // Python writes some signs in another way
const same = (query, other) => query === other || parsed(query) === parsed(other);

// The query part of a link to another page, which has `own` parts of the address for itself.
export function carried(search, own) {
  const parts = search.slice(1).split("&");
  return parts.filter((part) => part && !own.includes(part.split("=", 1)[0])).join("&");
}

export function follow(own) {
  const query = carried(location.search, own);
  for (const link of document.querySelectorAll(PAGES)) {
    const [path, drawn = ""] = link.getAttribute("href").split("?", 2);
    if (same(query, drawn)) continue;
    link.setAttribute("href", query ? `${path}?${query}` : path);
    taken.add(link);
  }
}

// `own` tells the parts of the address that no other page takes; `open` gets the path of a page.
export function watchLinks(own, open) {
  whenWritten(() => follow(own()));
  const click = (event) => {
    const link = event.target.closest?.(PAGES);
    const { button, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (!link || !taken.has(link) || button || altKey || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open(link.getAttribute("href").split("?", 1)[0]);
  };
  addEventListener("click", click, true);
}
