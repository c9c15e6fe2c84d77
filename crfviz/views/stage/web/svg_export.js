// Export of the picture as SVG, PNG or PDF. HTML boxes and words become SVG shapes and texts at the same
// positions, which drawing programs can edit. The SVG loads no resources and has no script.

import { html, svg } from "./dom.js";
import { pdfOf } from "./pdf_export.js";
import { drawText, FONT, fixed, narrowed, plainColour, words } from "./svg_text.js";

/** @import { Point } from "./types.js" */

const SCROLLS = ".scroller";
const FRAME = "words"; // id of the clip path of scrolling content
const CLIPPED = { "clip-path": `url(#${FRAME})` };
// Controls and hidden parts; the steps count and the names of switches belong to buttons.
const LEFT_OUT = ".covers, .fold, .tip, .buttons, .controls, .more, button, input, select, kbd, [hidden]";
const HINTS = /PageDown|click|drag|point at|\btype\b|↑|\bkeys?\b/i; // of a legend
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
const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);
const EDITS = { line: 18, size: 13 }; // pixels: the lines below the picture that list the edits
const [SHARP, PRINTED] = [2, 4]; // pixels of a PNG, and of a PDF, per pixel on the screen
const MOST = 2 ** 24; // pixels of a PDF; some browsers draw no more
const MARGIN = 16; // pixels around a picture
// The colours of a picture, also of a dark screen: it goes onto white paper.
const LIGHT = { "--ink": "#0a0c12", "--paper": "#ffffff", "--accent": "#0072b2", "color-scheme": "light" };

const FILE = "crfviz"; // file name of a saved picture, without its extension

/** @type {Record<string, (root: HTMLElement) => void>} */
export const SAVES = { svg: saveSvg, png: savePng, pdf: savePdf };

// Returns the SVG of an element in light colours, without content that is scrolled out of sight.
/** @param {HTMLElement} root */
function drawn(root) {
  const { left, top, width } = root.getBoundingClientRect();
  const lines = linesOf(root.dataset.edits ?? "", width);
  const height = root.scrollHeight + (lines.length && EDITS.line * (lines.length + 1));
  const size = { width: Math.ceil(width) + 2 * MARGIN, height: Math.ceil(height) + 2 * MARGIN };
  const corner = { x: -MARGIN, y: -MARGIN };
  const picture = svg("svg", { ...size, viewBox: `${-MARGIN} ${-MARGIN} ${size.width} ${size.height}` });
  picture.append(svg("rect", { ...corner, ...size, fill: LIGHT["--paper"] }));
  const before = root.style.cssText;
  for (const [name, value] of Object.entries(LIGHT)) root.style.setProperty(name, value);
  draw(root, picture, { left, top });
  root.style.cssText = before;
  const font = { "font-family": getComputedStyle(root).fontFamily, "font-size": EDITS.size, fill: LIGHT["--ink"] };
  lines.forEach((line, i) => {
    const y = height - EDITS.line * (lines.length - i) + EDITS.line / 2;
    picture.append(svg("text", { x: 0, y, ...font }, line));
  });
  return picture;
}

// Breaks the list of edits into lines of a width.
/** @param {string} text @param {number} width */
function linesOf(text, width) {
  const most = Math.max(20, Math.floor(width / (0.6 * EDITS.size)));
  return text.match(new RegExp(`\\S.{0,${most - 1}}(?!\\S)|\\S+`, "g")) ?? [];
}

/** @param {HTMLElement} root */
function saveSvg(root) {
  save(new Blob([new XMLSerializer().serializeToString(drawn(root))], { type: "image/svg+xml" }), `${FILE}.svg`);
}

/** @param {HTMLElement} root */
async function savePng(root) {
  const canvas = await pixelsOf(drawn(root), SHARP);
  canvas.toBlob((blob) => blob && save(blob, `${FILE}.png`), "image/png");
}

/** @param {HTMLElement} root */
async function savePdf(root) {
  const picture = drawn(root);
  const [width, height] = ["width", "height"].map((side) => Number(picture.getAttribute(side)));
  const canvas = await pixelsOf(picture, Math.min(PRINTED, Math.sqrt(MOST / (width * height))));
  const place = html("div", { style: "position: fixed; visibility: hidden", "aria-hidden": true }, picture);
  document.body.append(place); // its texts are measured
  try {
    save(await pdfOf(picture, canvas), `${FILE}.pdf`);
  } finally {
    place.remove();
  }
}

// Returns the pixels of a picture at so many times its size.
/** @param {SVGSVGElement} picture @param {number} times */
async function pixelsOf(picture, times) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
  await image.decode();
  const [width, height] = [image.width, image.height].map((side) => Math.floor(times * side));
  const canvas = html("canvas", { width, height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
  return canvas;
}

/** @param {Blob} blob @param {string} download */
function save(blob, download) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // milliseconds; enough for a slow disk to store the file
}

/** @param {HTMLElement} element @param {Element} picture @param {Point} origin */
function draw(element, picture, origin) {
  const style = getComputedStyle(element);
  if (element.matches(LEFT_OUT) || style.display === "none" || style.visibility === "hidden") return;
  if (element.localName === "svg") {
    const { left, top } = element.getBoundingClientRect();
    const place = svg("g", { transform: `translate(${fixed(left - origin.left)} ${fixed(top - origin.top)})` });
    copy(element, place);
    picture.append(place);
    return;
  }
  drawBox(element, style, picture, origin);
  const inside = element.matches(SCROLLS) && element.scrollWidth > element.clientWidth ? svg("g", CLIPPED) : picture;
  for (const child of element.childNodes) {
    if (child instanceof Text) drawText(child, style, inside, origin, element.matches(".legend") ? withoutHints : same);
    else if (child instanceof Element) draw(/** @type {HTMLElement} */ (child), inside, origin);
  }
  if (inside !== picture) picture.append(frameOf(element, origin), inside);
  picture.append(...marksOf(element, style, origin));
}

/** @param {string} text */
const same = (text) => text;

// Returns a legend without the hints for keys and pointers.
/** @param {string} text */
function withoutHints(text) {
  const parts = text.split(" · ");
  return parts.filter((part) => !HINTS.test(part)).join(" · ");
}

// Returns a clip path around the visible part of a scrolling element.
/** @param {HTMLElement} element @param {Point} origin */
function frameOf(element, origin) {
  const { left, top, width, height } = element.getBoundingClientRect();
  const box = rounded({ x: left - origin.left, y: top - origin.top, width, height });
  return svg("clipPath", { id: FRAME }, svg("rect", box));
}

// Draws background and border as a rectangle; if the border widths differ, each side is a line.
/** @param {HTMLElement} element @param {CSSStyleDeclaration} style @param {Element} picture @param {Point} origin */
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
    const stroke = framed ? strokeOf(style.borderTopColor, style.borderTopStyle, widths[0]) : {};
    const fill = filled ? plainColour(style.backgroundColor) : "none";
    picture.append(
      svg("rect", { ...rounded(rect), rx: fixed(parseFloat(style.borderTopLeftRadius) || 0), fill, ...stroke }),
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
    picture.append(svg("line", { x1, y1, x2, y2, ...stroke }));
  });
}

// Copies the children of a drawing with their computed styles as attributes.
/** @param {Element} from @param {Element} to */
function copy(from, to) {
  for (const child of from.childNodes) {
    if (child instanceof Text) to.append(child.data);
    if (!(child instanceof Element) || child.matches("[hidden]")) continue;
    const style = getComputedStyle(child);
    if (style.display === "none" || style.visibility === "hidden") continue;
    const own = svg(child.localName, written(child, style));
    copy(child, own);
    to.append(own);
  }
}

/** @param {Element} element @param {CSSStyleDeclaration} style */
function written(element, style) {
  const names = [...GEOMETRY, ...MORE].filter((name) => element.hasAttribute(name));
  const font = element.closest("text") ? FONT : [];
  return Object.fromEntries([
    ...names.map((name) => [name, element.getAttribute(name)]),
    ...[...PAINT, ...font].map((name) => [name, narrowed(plainColour(style.getPropertyValue(name)))]),
  ]);
}

// Returns the shapes of an element's outline and of its ::before and ::after.
/** @param {HTMLElement} element @param {CSSStyleDeclaration} style @param {Point} origin */
function marksOf(element, style, origin) {
  const before = pseudo(element, "::before", origin);
  return [outline(element, style, origin), before, pseudo(element, "::after", origin)].flat();
}

/** @param {HTMLElement} element @param {CSSStyleDeclaration} style @param {Point} origin */
function outline(element, style, origin) {
  const width = parseFloat(style.outlineWidth);
  if (style.outlineStyle === "none" || !width || element.matches(":focus-visible")) return [];
  const { left, top, width: w, height: h } = element.getBoundingClientRect();
  const out = parseFloat(style.outlineOffset) + width / 2;
  const box = { x: left - origin.left - out, y: top - origin.top - out, width: w + 2 * out, height: h + 2 * out };
  const stroke = strokeOf(style.outlineColor, style.outlineStyle, width);
  return [svg("rect", { ...rounded(box), rx: style.borderTopLeftRadius, fill: "none", ...stroke })];
}

/** @param {HTMLElement} element @param {string} name @param {Point} origin */
function pseudo(element, name, origin) {
  const style = getComputedStyle(element, name);
  const text = /^"(.*)"$/s.exec(style.content)?.[1];
  if (text === undefined || style.display === "none") return [];
  const spot = style.position === "absolute" ? placed(element, style, origin) : beside(element, name, style, origin);
  if (text === "") return corner(style, spot);
  const decoration = style.textDecorationLine === "none" ? {} : { "text-decoration": style.textDecorationLine };
  return [words(text, style, { x: fixed(spot.x), y: spot.middle, "text-anchor": spot.anchor, ...decoration })];
}

// The position of an absolutely positioned pseudo-element.
/** @param {HTMLElement} element @param {CSSStyleDeclaration} style @param {Point} origin */
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

// The position of other pseudo-elements: before the content of the element, or after it.
/** @param {HTMLElement} element @param {string} name @param {CSSStyleDeclaration} style @param {Point} origin */
function beside(element, name, style, origin) {
  const range = document.createRange();
  range.selectNodeContents(element);
  const { left, right, top, height } = range.getBoundingClientRect();
  const first = name === "::before";
  const x = first ? left - parseFloat(style.marginRight) : right + parseFloat(style.marginLeft);
  return {
    x: x - origin.left,
    y: top - origin.top,
    middle: top - origin.top + height / 2,
    anchor: first ? "end" : "start",
  };
}

// An empty box with borders, such as a triangle in CSS: each border is a triangle.
/** @param {CSSStyleDeclaration} style @param {{ x: number, y: number }} spot */
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
    return [svg("polygon", { points: points.join(" "), fill: plainColour(colour) })];
  });
}

/** @param {Record<string, number>} box */
function rounded(box) {
  return Object.fromEntries(Object.entries(box).map(([name, value]) => [name, fixed(value)]));
}

/** @type {Record<string, number[]>} */
const DASHES = { dashed: [3, 2], dotted: [1, 1.5] }; // in line widths

// The stroke of a border or an outline.
/** @param {string} colour @param {string} kind @param {number} width */
function strokeOf(colour, kind, width) {
  const dashes = DASHES[kind];
  const dashed = dashes ? { "stroke-dasharray": dashes.map((each) => fixed(each * width)).join(" ") } : {};
  return { stroke: plainColour(colour), "stroke-width": fixed(width), ...dashed };
}

/** @param {string} colour */
function clear(colour) {
  return colour === "transparent" || /(, |\/ )0\)$/.test(colour);
}
