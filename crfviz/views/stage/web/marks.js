// The marks that only the style sheet adds, for a saved picture: frames around edited cells, ▲ and ▼, what a tag was.

import { clear, fixed, plainColour, shape, strokeOf, words } from "./shapes.js";

const SIDES = ["Top", "Right", "Bottom", "Left"];

// Those of an element of HTML, as shapes.
export function marksOf(element, style, origin) {
  const before = pseudo(element, "::before", origin);
  return [outline(element, style, origin), before, pseudo(element, "::after", origin)].flat();
}

function outline(element, style, origin) {
  const width = parseFloat(style.outlineWidth);
  if (style.outlineStyle === "none" || !width || element.matches(":focus-visible")) return [];
  const { left, top, width: w, height: h } = element.getBoundingClientRect();
  const out = parseFloat(style.outlineOffset) + width / 2;
  const box = { x: left - origin.left - out, y: top - origin.top - out, width: w + 2 * out, height: h + 2 * out };
  const stroke = strokeOf(style.outlineColor, style.outlineStyle, width);
  return [shape("rect", { ...rounded(box), rx: style.borderTopLeftRadius, fill: "none", ...stroke })];
}

function pseudo(element, name, origin) {
  const style = getComputedStyle(element, name);
  const text = /^"(.*)"$/s.exec(style.content)?.[1];
  if (text === undefined || style.display === "none") return [];
  const spot = style.position === "absolute" ? placed(element, style, origin) : beside(element, name, style, origin);
  if (text === "") return corner(style, spot);
  const decoration = style.textDecorationLine === "none" ? {} : { "text-decoration": style.textDecorationLine };
  return [words(text, style, { x: fixed(spot.x), y: fixed(spot.middle), "text-anchor": spot.anchor, ...decoration })];
}

// Where the style sheet puts it.
function placed(element, style, origin) {
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left - origin.left, box.top - origin.top];
  const [left, top, height] = [style.left, style.top, style.height].map(parseFloat);
  return {
    x: x + element.clientLeft + left,
    y: y + element.clientTop + top,
    middle: y + top + height / 2,
    anchor: "start",
  };
}

// Before the first word of the element, or behind the last.
function beside(element, name, style, origin) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const { left, right, top, height } = range.getBoundingClientRect();
  const first = name === "::before";
  const x = first ? left - parseFloat(style.marginRight) : right + parseFloat(style.marginLeft);
  return { x: x - origin.left, middle: top - origin.top + height / 2, anchor: first ? "end" : "start" };
}

// A box of nothing but borders: triangles that meet in its middle.
function corner(style, { x, y }) {
  const [above, right, below, left] = SIDES.map((side) => parseFloat(style[`border${side}Width`]));
  const [width, height] = [left + right, above + below];
  const corners = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  return SIDES.flatMap((side, i) => {
    const colour = style[`border${side}Color`];
    if (clear(colour) || !width) return [];
    const points = [corners[i], corners[(i + 1) % 4], [left, above]].map(
      (at) => `${fixed(x + at[0])},${fixed(y + at[1])}`,
    );
    return [shape("polygon", { points: points.join(" "), fill: plainColour(colour) })];
  });
}

function rounded(box) {
  return Object.fromEntries(Object.entries(box).map(([name, value]) => [name, fixed(value)]));
}
