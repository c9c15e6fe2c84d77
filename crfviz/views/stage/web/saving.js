// The picture as it is on the screen, as one SVG of its own, and that as PNG or printed. Boxes and words of HTML
// become shapes and texts at their places, so that programs for drawing and for papers read them; nothing is loaded,
// no script is in.

import { html } from "./dom.js";
import { marksOf } from "./marks.js";
import { clear, fixed, plainColour, shape, strokeOf, words } from "./shapes.js";

const LEFT_OUT = ".covers, .fold, .tip, button, input, [hidden]"; // what is there to be pressed
const GEOMETRY = ["d", "cx", "cy", "r", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "points", "transform"];
const MORE = ["text-anchor", "marker-end", "id", "viewBox", "refX", "refY", "orient", "markerWidth", "markerHeight"];
const PAINT = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-opacity",
  "opacity",
  "paint-order",
];
const FONT = ["font-family", "font-size", "font-weight"];
const SIDES = ["Top", "Right", "Bottom", "Left"];
const SHARP = 2; // pixels of a PNG for one on the screen

// The SVG of an element; everything in it that is not scrolled away.
function drawn(root) {
  const { left, top, width } = root.getBoundingClientRect();
  const height = root.scrollHeight;
  const paper = getComputedStyle(root).getPropertyValue("--paper").trim() || "#fff";
  const size = { width: Math.ceil(width), height: Math.ceil(height) };
  const picture = shape("svg", { ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  picture.append(shape("rect", { width: "100%", height: "100%", fill: plainColour(resolved(root, paper)) }));
  draw(root, picture, { left, top });
  return picture;
}

function svgOf(root) {
  return new XMLSerializer().serializeToString(drawn(root));
}

export function saveSvg(root, name) {
  save(new Blob([svgOf(root)], { type: "image/svg+xml" }), `${name}.svg`);
}

export async function savePng(root, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(root))}`;
  await image.decode();
  const canvas = html("canvas", { width: SHARP * image.width, height: SHARP * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
}

// One sheet of the picture's own size in the browser's dialog, which prints it or writes a PDF.
export function printPicture(root, name) {
  const picture = drawn(root);
  const frame = html("iframe", {
    style: "position: fixed; width: 0; height: 0; border: 0",
    tabindex: -1,
    "aria-hidden": true,
  });
  document.body.append(frame);
  const { contentWindow, contentDocument } = frame;
  const sheet = new contentWindow.CSSStyleSheet(); // a style element would need leave of the file's policy
  const size = ["width", "height"].map((side) => `${picture.getAttribute(side)}px`).join(" ");
  const rest = "body { margin: 0 } svg { display: block } * { print-color-adjust: exact }";
  sheet.replaceSync(`@page { size: ${size}; margin: 0 } ${rest}`);
  contentDocument.adoptedStyleSheets = [sheet];
  contentDocument.title = name;
  contentDocument.body.append(picture);
  contentWindow.addEventListener("afterprint", () => frame.remove());
  contentWindow.print();
}

function save(blob, download) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // milliseconds until even a slow disk has it
}

function draw(element, picture, origin) {
  const style = getComputedStyle(element);
  if (element.matches(LEFT_OUT) || style.display === "none" || style.visibility === "hidden") return;
  if (element.localName === "svg") {
    const { left, top } = element.getBoundingClientRect();
    const place = shape("g", { transform: `translate(${fixed(left - origin.left)} ${fixed(top - origin.top)})` });
    copy(element, place);
    picture.append(place);
    return;
  }
  drawBox(element, style, picture, origin);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) drawText(child, style, picture, origin);
    else if (child.nodeType === Node.ELEMENT_NODE) draw(child, picture, origin);
  }
  picture.append(...marksOf(element, style, origin));
}

// Background and border; where the sides differ each is a line.
function drawBox(element, style, picture, origin) {
  const box = element.getBoundingClientRect();
  const [x, y] = [box.left - origin.left, box.top - origin.top];
  const widths = SIDES.map((side) => parseFloat(style[`border${side}Width`]));
  const even = widths.every((width) => width === widths[0]);
  const filled = !clear(style.backgroundColor);
  const inset = even ? widths[0] / 2 : 0;
  const framed = even && widths[0] > 0 && !clear(style.borderTopColor);
  if (filled || framed) {
    const rect = { x: x + inset, y: y + inset, width: box.width - 2 * inset, height: box.height - 2 * inset };
    if (rect.width <= 0 || rect.height <= 0) return;
    const numbers = Object.fromEntries(Object.entries(rect).map(([name, value]) => [name, fixed(value)]));
    const stroke = framed ? strokeOf(style.borderTopColor, style.borderTopStyle, widths[0]) : {};
    const fill = filled ? plainColour(style.backgroundColor) : "none";
    picture.append(
      shape("rect", { ...numbers, rx: fixed(parseFloat(style.borderTopLeftRadius) || 0), fill, ...stroke }),
    );
  }
  if (even) return;
  const [right, bottom] = [x + box.width, y + box.height];
  const ends = [
    [x, y, right, y],
    [right, y, right, bottom],
    [x, bottom, right, bottom],
    [x, y, x, bottom],
  ];
  SIDES.forEach((side, i) => {
    if (widths[i] === 0 || clear(style[`border${side}Color`])) return;
    const [x1, y1, x2, y2] = ends[i].map(fixed);
    const stroke = strokeOf(style[`border${side}Color`], style[`border${side}Style`], widths[i]);
    picture.append(shape("line", { x1, y1, x2, y2, ...stroke }));
  });
}

// Each word at its place; turned texts turn around their middle.
function drawText(node, style, picture, origin) {
  const range = document.createRange();
  const box = node.parentElement.getBoundingClientRect();
  const turn = turnOf(node.parentElement);
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { left, top, width, height } = range.getBoundingClientRect();
    const scrolledAway = style.overflowX === "hidden" && left >= box.right;
    if (width === 0 || scrolledAway) continue;
    const [x, y] = [left - origin.left, top - origin.top];
    const middle = fixed(y + height / 2);
    const turned = `translate(${fixed(x + width / 2)} ${middle}) ${turn}`;
    const place = turn ? { "text-anchor": "middle", transform: turned } : { x: fixed(x), y: middle };
    picture.append(words(word, style, place));
  }
}

// The rotation of whatever an element stands in, up to the stage.
function turnOf(element) {
  for (let each = element; each && !each.matches("[data-stage]"); each = each.parentElement) {
    const { transform } = getComputedStyle(each);
    const found = /^matrix\(([^,]+), ([^,]+), ([^,]+), ([^,]+),/.exec(transform);
    if (found) return `matrix(${found.slice(1, 5).join(" ")} 0 0)`;
  }
  return null;
}

// The children of a drawing with what the style sheet says of them written out.
function copy(from, to) {
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.data);
    if (child.nodeType !== Node.ELEMENT_NODE || child.matches("[hidden]")) continue;
    const style = getComputedStyle(child);
    if (style.display === "none" || style.visibility === "hidden") continue;
    const own = shape(child.localName, written(child, style));
    copy(child, own);
    to.append(own);
  }
}

function written(element, style) {
  const said = [...GEOMETRY, ...MORE].filter((name) => element.hasAttribute(name));
  const font = element.closest("text") ? FONT : [];
  return Object.fromEntries([
    ...said.map((name) => [name, element.getAttribute(name)]),
    ...[...PAINT, ...font].map((name) => [name, plainColour(style.getPropertyValue(name))]),
  ]);
}

// A colour of a custom property as the browser computes it.
function resolved(root, colour) {
  const probe = html("i", { style: `color: ${colour}` });
  root.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}
