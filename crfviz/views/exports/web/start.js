// Opens the frame that the data of a page speaks of, in the place of its tables. On a slide the stage is alone in it.

import { mark } from "../../stage/web/dom.js";
import { buildFrame } from "./frame.js";

const PAPER = "1255px"; // between the margins of a landscape sheet of letter paper, as ./file.css zooms; A4 is wider

// What is written into the page under this name.
export function read(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

// The data of a file, at the page that its address names.
export function readFile() {
  const data = read("data");
  const asked = new URLSearchParams(location.search).get("page");
  const wanted = data.pages.find(({ id }) => id === asked);
  return wanted ? { ...data, opens: wanted.id, step: null } : data;
}

// `options` are those of the frame; `ready` gets it before it is drawn.
export function start(data, options = {}, ready = () => null) {
  const page = document.documentElement;
  const asked = new URLSearchParams(location.search);
  if (asked.get("embed") === "stage") mark(page, "data-embed", "stage");
  const frame = buildFrame(data, page, options);
  ready(frame);
  document.getElementById("still").replaceWith(frame.element);
  frame.open();
  const takeKeys = () => document.activeElement === document.body && frame.element.focus({ preventScroll: true });
  addEventListener("focus", takeKeys); // a deck gives it to its slide
  takeKeys();
  addEventListener("beforeprint", () => frame.fit(PAPER)); // a wide window would be cut off
  addEventListener("afterprint", () => frame.fit(""));
}
