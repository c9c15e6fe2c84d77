// The stage alone on a slide, in a frame of another page: the address says `embed=stage`. Keys that it has no use for
// are handed to the page around it, so that a clicker goes on there: { crfviz: "key", key: "PageDown" }.

/** @import { Way } from "./types.js" */

export function onSlide() {
  return window.parent !== window && new URLSearchParams(location.search).get("embed") === "stage";
}

/** @param {string} key */
export function handOn(key) {
  window.parent.postMessage({ crfviz: "key", key }, "*"); // a key is no secret, and any page may hold the slide
}

// What a stage does beyond its last step, or before its first: "next" or "previous". False: nothing was done.
/** @param {Way} way */
export function beyond(way) {
  if (!onSlide()) return false;
  handOn(way === "next" ? "PageDown" : "PageUp");
  return true;
}

// What to do for a key that nothing else used.
/** @param {KeyboardEvent} event */
export function leaveKeyOf({ key, defaultPrevented }) {
  return key === "Escape" && !defaultPrevented && onSlide() ? () => handOn(key) : null;
}
