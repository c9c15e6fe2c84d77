// Texts of a saved picture. Each line is one text with its blanks, which stay where another font replaces ours; its
// length is that on the screen. Positions are those of baselines, because few programs know other alignments.

import { html, svg } from "./dom.js";

/** @import { Attributes, Point } from "./types.js" */

export const FONT = ["font-family", "font-size", "font-weight"];
const NARROW = "Arial, Helvetica, Liberation Sans"; // before sans-serif, which is wider in some programs
const KEEP_BLANKS = { style: "white-space: pre", "xml:space": "preserve" }; // for programs of either kind
const [ROOM, FAR] = [3, 20]; // pixels beside a text that is in the middle, or at the end, of its box
const APART = 2; // pixels between the tops of two lines, at least

// Draws the lines of a text node; `change` may shorten the text of a node with one line.
/**
 * @param {Text} node @param {CSSStyleDeclaration} style @param {Element} picture @param {Point} origin
 * @param {(text: string) => string} change
 */
export function drawText(node, style, picture, origin, change) {
  const parent = /** @type {HTMLElement} */ (node.parentElement);
  const box = parent.getBoundingClientRect();
  const turn = turnOf(parent);
  const hides = /hidden|clip/.test(style.overflowX);
  const rtl = style.direction === "rtl";
  for (const { text, left, right, top, height } of linesOf(node, turn !== null)) {
    if (left === right || (hides && (left >= box.right || right <= box.left))) continue;
    const written = change(text);
    if (!written.trim()) continue;
    const middle = top - origin.top + height / 2;
    const width = right - left;
    const length =
      written === text && text.length > 1 ? { textLength: fixed(width), lengthAdjust: "spacingAndGlyphs" } : {};
    const turned = `translate(${fixed(left - origin.left + width / 2)} ${fixed(middle)}) ${turn}`;
    const direction = rtl ? { direction: "rtl" } : {};
    const straight = { ...anchored(parent, { left, right, rtl }, origin), ...direction, ...length };
    const place = turn ? { "text-anchor": "middle", transform: turned } : straight;
    picture.append(words(written, style, { ...place, y: turn ? 0 : middle }));
  }
}

// Where a text is attached: in the middle of its box, at its end, or at its start. Another font leaves it there.
/** @param {HTMLElement} parent @param {{ left: number, right: number, rtl: boolean }} text @param {Point} origin */
function anchored(parent, { left, right, rtl }, origin) {
  /** @type {HTMLElement} */
  let block = parent;
  while (block.parentElement && /inline|contents/.test(getComputedStyle(block).display)) block = block.parentElement;
  const box = block.getBoundingClientRect();
  const [before, after] = [left - box.left, box.right - right];
  /** @param {number} x @param {string} anchor */
  const at = (x, anchor) => ({ x: fixed(x - origin.left), "text-anchor": anchor });
  const alone = block.textContent?.trim() === parent.textContent?.trim();
  if (alone && before > ROOM && Math.abs(before - after) < ROOM) return at((left + right) / 2, "middle");
  const ends = alone && (rtl ? after - before : before - after) > FAR;
  if (ends) return at(rtl ? left : right, "end");
  return { x: fixed((rtl ? right : left) - origin.left) };
}

// Returns a text in a style; `place` has its position, by the middle of the line.
/** @param {string} text @param {CSSStyleDeclaration} style @param {Attributes & { y: number }} place */
export function words(text, style, place) {
  const font = Object.fromEntries(FONT.map((name) => [name, narrowed(style.getPropertyValue(name))]));
  const y = fixed(place.y + sinking(style));
  const blanks = /\s/.test(text) ? KEEP_BLANKS : {};
  const element = svg("text", { ...place, y, ...font, ...blanks, fill: plainColour(style.color) });
  element.textContent = text;
  return element;
}

// Returns a list of font families with narrow ones before the general sans-serif; other values as they are.
/** @param {string} value */
export function narrowed(value) {
  return value.replace(/, sans-serif/, `, ${NARROW}, sans-serif`);
}

// The lines of a text node as it is on the screen, with the blanks that part it from its neighbours.
/** @param {Text} node @param {boolean} whole a turned text, which has one line */
function linesOf(node, whole) {
  const range = document.createRange();
  /** @param {number} from @param {number} to */
  const boxOf = (from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return range.getBoundingClientRect();
  };
  /** @type {{ from: number, to: number, top: number }[]} */
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    const { top, width } = boxOf(index, index + word.length);
    if (width === 0) continue;
    const last = lines.at(-1);
    if (last && (whole || Math.abs(last.top - top) < APART)) last.to = index + word.length;
    else lines.push({ from: index, to: index + word.length, top });
  }
  return lines.map(({ from, to }) => {
    if (from > 0 && boxOf(from - 1, from).width > 0) from -= 1;
    if (to < node.length && boxOf(to, to + 1).width > 0) to += 1;
    const { left, right, top, height } = boxOf(from, to);
    return { text: node.data.slice(from, to).replace(/\s+/g, " "), left, right, top, height };
  });
}

// Returns the rotation of an element's ancestors up to the stage.
/** @param {HTMLElement} element */
function turnOf(element) {
  for (
    let each = /** @type {HTMLElement | null} */ (element);
    each && !each.matches("[data-stage]");
    each = each.parentElement
  ) {
    const { transform } = getComputedStyle(each);
    const found = /^matrix\(([^,]+), ([^,]+), ([^,]+), ([^,]+),/.exec(transform);
    if (found) return `matrix(${found.slice(1, 5).join(" ")} 0 0)`;
  }
  return null;
}

/** @type {Map<string, number>} */
const sinkings = new Map(); // by font

// Pixels from the middle of a line down to its baseline.
/** @param {CSSStyleDeclaration} style */
function sinking({ fontFamily, fontSize, fontWeight }) {
  const font = `${fontWeight} ${fontSize} ${fontFamily}`;
  if (!sinkings.has(font)) {
    const context = /** @type {CanvasRenderingContext2D} */ (html("canvas").getContext("2d"));
    context.font = font;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = context.measureText("x");
    sinkings.set(font, (ascent - descent) / 2);
  }
  return sinkings.get(font) ?? 0;
}

/** @param {number} value */
export function fixed(value) {
  return String(Number(value.toFixed(2)));
}

// Converts color(srgb r g b), the computed form of mixed colours, to rgb(): few programs other than browsers read it.
/** @param {string} value */
export function plainColour(value) {
  return value.replaceAll(/color\(srgb ([^ )]+) ([^ )]+) ([^ )]+)(?: \/ ([^)]+))?\)/g, (_, r, g, b, alpha) => {
    const parts = [r, g, b].map((part) => Math.round(255 * Number(part))).join(", ");
    return alpha === undefined ? `rgb(${parts})` : `rgba(${parts}, ${alpha})`;
  });
}
