// The stage alone in a frame of another page, such as a slide (`embed=stage` in the URL). It posts the keys that it
// does not use to the surrounding page, so that a clicker continues there: { crfviz: "key", key: "PageDown" }.

/** @import { Way } from "./types.js" */

function onSlide() {
  return window.parent !== window && new URLSearchParams(location.search).get("embed") === "stage";
}

/** @param {string} key */
function handOn(key) {
  window.parent.postMessage({ crfviz: "key", key }, "*"); // a key is not secret, and any page may embed the slide
}

// Handles a step beyond the last one or before the first. Returns whether it did anything.
/** @param {Way} way */
export function beyond(way) {
  if (!onSlide()) return false;
  handOn(way === "next" ? "PageDown" : "PageUp");
  return true;
}

// Returns what to do for a key that nothing else used.
/** @param {KeyboardEvent} event */
export function leaveKeyOf({ key, defaultPrevented }) {
  return key === "Escape" && !defaultPrevented && onSlide() ? () => handOn(key) : null;
}
