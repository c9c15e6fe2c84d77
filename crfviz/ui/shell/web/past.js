// A page that keys turn, or a link with edits, is one place to come back to. Streamlit would make three: it takes the
// query out of the address of the page that is left, and writes that of the next one there, and only then the path; or
// the path first.

import { addRule } from "./router.js";

const TURNS = "crfviz-turns"; // of the document: another page is asked for
const TURNING = ["PageDown", "PageUp", " ", "ArrowRight", "ArrowLeft"];

export function turning() {
  document.dispatchEvent(new Event(TURNS));
}

export function watchPast() {
  let left = null; // the address that is being left
  let bare = false; // the path of the next page was written, its query was not
  addRule(({ pathname, search }, next, told) => {
    const joins = pathname === location.pathname && (left || bare);
    bare = !joins && left !== null && search === "";
    if (joins) return history.replaceState(...told);
    if (left) history.replaceState(history.state, "", left);
    left = null;
    next();
  });
  const stays = () => {
    left = null; // there was no page to turn to
    bare = false;
  };
  addEventListener("pointerdown", stays, true);
  addEventListener("popstate", stays);
  addEventListener("keydown", ({ key }) => TURNING.includes(key) || stays(), true);
  document.addEventListener(TURNS, () => {
    left ??= location.href;
  });
}
