// Two panels of exact terms: the gap of a tag word by word, and the tipping points of a weight.

import { button, changed, childrenOf, flag, hide, html, set, setProperty, setText, svg } from "../dom.js";
import { weight } from "../model.js";
import { clamp, score, signed } from "../numbers.js";
import { drawTick } from "./cells.js";

/** @import { Model, Piece } from "../types.js" */

const MARGIN = 1.2; // nats shown beyond the outermost mark of a ruler
const REACH = 6; // farther breakpoints are only listed
const RULER = { width: 400, height: 23, head: 10, foot: 20 };
const APART = 48; // minimum distance of two numbers under the ruler

const SEEN = 5e-3; // terms below this are not written

// The gap between two paths: one bar per word for the emission, and one for the transition into it. With `open` an
// emission bar is a button.
/** @param {Model} model @param {((t: number) => void) | null} open */
export function buildTerms(model, open) {
  const title = html("div.side-title");
  const head = html("div.term.term-head", html("span"), html("span", "transition"), html("span", "emission"));
  const rows = [...model.words, "END"].map((word, t) => {
    const bars = [0, 1].map((column) => {
      const number = html("span.term-number");
      const opens = open && column === 1 && t < model.words.length;
      if (opens) return button(number, () => open(t), { class: "term-bar", tabindex: -1 });
      return html("span.term-bar", { tabindex: -1 }, number);
    });
    return html("div.term", { "data-term": t }, html("span.term-word", { dir: "auto" }, word), bars);
  });
  const foot = html("div.side-note");
  return {
    element: html("section.side-panel.terms", { "aria-live": "polite" }, title, head, rows, foot),
    /** @param {Model} model */
    update({ terms }) {
      if (!terms) return;
      setText(title, terms.title);
      setText(foot, terms.foot);
      const columns = [terms.transitions, terms.emissions];
      const [emissionsBefore, transitionsBefore] = terms.trained ?? [[], []];
      const before = [transitionsBefore, emissionsBefore];
      const largest = Math.max(0.01, ...[...columns, ...before].flat().map(Math.abs));
      rows.forEach((row, t) => {
        childrenOf(row)
          .slice(1)
          .forEach((bar, i) => drawBar(bar, columns[i][t] ?? 0, largest, before[i][t] ?? null));
        hide(row, ![...columns, ...before].some((values) => Math.abs(values[t]) >= SEEN));
      });
    },
  };
}

/** @param {HTMLElement} bar @param {number} value @param {number} largest @param {number | null} trained */
function drawBar(bar, value, largest, trained) {
  const moved = trained !== null && Math.abs(trained - value) >= SEEN;
  drawTick(bar, moved ? 0.5 + trained / largest / 2 : null, `trained ${moved ? score(trained, 6) : ""}`);
  setText(bar.children[0], Math.abs(value) < SEEN ? "" : signed(value));
  setProperty(bar, "--length", `${(50 * Math.abs(value)) / largest}%`);
  flag(bar, { negative: value < 0 });
  set(bar, "title", score(value, 6));
}

// The values of one weight on an axis: each interval has its own best path. The pointer, above the names of the
// intervals, marks the current value.
export function buildRuler() {
  const { width, height, head, foot } = RULER;
  const title = html("div.ruler-title");
  const pieces = svg("g");
  const names = svg("g");
  const trained = svg("line.ruler-trained", { y1: -3, y2: height + 3 });
  const pointer = svg("path.ruler-now", { d: `M0 -1 l-7 ${2 - head} h14 z` });
  const viewBox = `0 ${-head} ${width} ${head + height + foot}`;
  const picture = svg("svg.ruler-picture", { role: "img", tabindex: 0, viewBox }, pieces, trained, names, pointer);
  const note = html("div.ruler-foot");
  const element = html("section.side-panel.ruler", { "data-ruler": "" }, title, picture, note);
  return {
    element,
    /** @param {Model} model */
    update({ ruler, chain, into }) {
      hide(element, !ruler);
      if (!ruler) return;
      const [from, to] = ruler.weight;
      const now = weight(chain, ...ruler.cell, into);
      const breaks = ruler.pieces.slice(1).map((piece) => piece.low);
      const { low, high, far } = stretchOf(breaks, [ruler.varies ? NaN : ruler.trained, now].filter(Number.isFinite));
      /** @param {number} value */
      const x = (value) => (width * (clamp(value, low, high) - low)) / (high - low);
      const before = ruler.varies ? "differently at each step" : score(ruler.trained, 2);
      setText(title, `${from} → ${to} is ${score(now, 2)}, trained ${before}`);
      if (changed(pieces, JSON.stringify([ruler, low, high]))) {
        pieces.replaceChildren(...ruler.pieces.map((piece, i) => drawPiece(piece, i, x)));
        names.replaceChildren(...ruler.pieces.flatMap((piece) => nameOf(piece, x)), ...drawBreaks(breaks, x));
      }
      hide(trained, ruler.varies || !Number.isFinite(ruler.trained));
      for (const end of ["x1", "x2"]) set(trained, end, x(ruler.trained));
      set(pointer, "transform", `translate(${x(now)})`);
      const here = ruler.pieces.findLast((piece) => piece.low <= now) ?? ruler.pieces[0];
      /** @param {number[]} values @param {number} digits */
      const list = (values, digits) => values.map((value) => score(value, digits)).join(", ");
      const known = `${ruler.pieces.length} pieces, breakpoints ${list(breaks, 3) || "none"}`;
      set(picture, "aria-label", `${known}; now ${here.label}`);
      const beyond = far.length ? ` Also at ${list(far, 2)}.` : "";
      const changes = `Numbers mark where the best path changes; the line marks the trained value.${beyond}`;
      setText(note, breaks.length ? changes : "No value of this weight changes the best path.");
    },
  };
}

// The range of the ruler: both values and nearby breakpoints.
/** @param {number[]} breaks @param {number[]} centres */
function stretchOf(breaks, centres) {
  const near = breaks.filter((value) => centres.some((centre) => Math.abs(value - centre) <= REACH));
  const marks = [...near, ...centres];
  const shown = marks.length ? marks : breaks;
  const far = breaks.filter((value) => !near.includes(value));
  return { low: Math.min(...shown) - MARGIN, high: Math.max(...shown) + MARGIN, far };
}

/** @param {Piece} piece @param {number} i @param {(value: number) => number} x */
function drawPiece({ low, high, label }, i, x) {
  const { height } = RULER;
  const size = { x: x(low), width: Math.max(0, x(high) - x(low)), height };
  return svg("rect.ruler-piece", { "data-piece": i, ...size }, svg("title", label));
}

// Returns the position at which a name fits.
/** @param {Piece} piece @param {(value: number) => number} x */
function nameOf({ low, high, label }, x) {
  const wide = x(high) - x(low) > 8.5 * label.length;
  return wide ? [svg("text.ruler-label", { x: (x(low) + x(high)) / 2, y: RULER.height / 2 + 5 }, label)] : [];
}

// Overlapping numbers are omitted: the description of the picture lists all of them.
/** @param {number[]} breaks @param {(value: number) => number} x */
function drawBreaks(breaks, x) {
  const { width, height } = RULER;
  let last = -Infinity;
  return breaks.flatMap((value) => {
    const at = x(value);
    if (at - last < APART || at <= 0 || at >= width) return [];
    last = at;
    return svg("text.ruler-break", { "data-break": value, x: at, y: height + 16 }, score(value, 2));
  });
}
