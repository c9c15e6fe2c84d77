// Marks that compare a number with its trained value; they do not rely on colour.

import { html, set, setProperty } from "../dom.js";
import { percent } from "../numbers.js";

// "up", "down", or null where the difference is not visible in the formatted number.
/** @param {number} value @param {number | undefined} trained @param {number} digits */
export function direction(value, trained, digits) {
  if (trained === undefined || Object.is(value, trained) || Number.isNaN(value) || Number.isNaN(trained)) return null;
  if (Math.abs(value - trained) < 0.5 * 10 ** -digits) return null; // infinite where one of them is forbidden
  return value > trained ? "up" : "down";
}

// A dotted tick in a bar: where it ended as trained. `share` is 0 to 1 of the bar's width; null takes it away.
/** @param {Element} bar @param {number | null} share @param {string} text */
export function drawTick(bar, share, text) {
  const known = bar.querySelector(".bar-ghost");
  if (share === null) return known?.remove();
  const tick = known ?? bar.appendChild(html("span.bar-ghost"));
  setProperty(tick, "--at", percent(share));
  set(tick, "title", text);
}
