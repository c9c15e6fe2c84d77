// What the trained model said, beside what is true now: marks that do not rely on colour.

import { html, mark, set, setProperty } from "./dom.js";

// "up", "down", or null where nobody would see a difference in the number as it is written.
export function direction(value, trained, digits) {
  if (trained === undefined || Object.is(value, trained) || Number.isNaN(value) || Number.isNaN(trained)) return null;
  if (Math.abs(value - trained) < 0.5 * 10 ** -digits) return null; // infinite where one of them is forbidden
  return value > trained ? "up" : "down";
}

// A dotted tick in a bar: where it ended as trained. `share` is 0 to 1 of the bar's width; null takes it away.
export function drawTick(bar, share, text) {
  let tick = bar.querySelector(".bar-ghost");
  if (share === null) return tick?.remove();
  if (!tick) bar.append((tick = html("span", { class: "bar-ghost" })));
  setProperty(tick, "--at", `${(100 * share).toFixed(2)}%`);
  set(tick, "title", text);
}

export function markChange(element, value, trained, digits) {
  mark(element, "data-change", direction(value, trained, digits));
}
