// A live file: a frame on a page of its own, which asks nobody for anything. On a slide the stage is alone in it.

import { mark } from "../../stage/web/dom.js";
import { buildFrame } from "./frame.js";

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.documentElement;
  const asked = new URLSearchParams(location.search);
  if (asked.get("embed") === "stage") mark(page, "data-embed", "stage");
  const wanted = data.pages.find(({ id }) => id === asked.get("page"));
  if (wanted) Object.assign(data, { opens: wanted.id, step: null });
  const frame = buildFrame(data, page);
  document.getElementById("still").replaceWith(frame.element);
  frame.open();
  if (document.activeElement === document.body) frame.element.focus({ preventScroll: true });
}

start();
