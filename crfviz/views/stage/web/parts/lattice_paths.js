// The lines of the lattice over its nodes: transitions, tied backpointers, the terms of a sum, and samples.

import { fit, flag, set, setAll, setText, svg } from "../dom.js";
import { score } from "../numbers.js";
import { inputsOf, sharesOf } from "../stage/inputs.js";

/** @import { Model } from "../types.js" */
/** @import { Parts, Place } from "./lattice.js" */

// In pixels at the smallest text size: a score beside its node, the step to END behind it, and half of the score there.
export const NUMBER = 40;
export const END_WIDTH = 34;
export const END_HALF = 24;
const [THICK, POINTS] = [4, 24]; // half the width of the best path with a margin, and sample points per transition
/** @type {Record<string, boolean>} */
const SUMMED = { alpha: true, beta: true };

// The centres of the columns, in pixels from the left.
/**
 * @param {Pick<Model, "rtl" | "T"> & { sizes: Pick<Model["sizes"], "lefts"> }} model
 * @returns {(t: number) => number}
 */
export function middlesOf({ rtl, T, sizes: { lefts } }) {
  return (t) => {
    const middle = (lefts[t] + lefts[t + 1]) / 2;
    return rtl ? lefts[T] - middle : middle;
  };
}

// The curve of the transition between two tags at word t. Beside scores it starts under its own score, and passes
// between the columns of the others.
/** @param {Place} xy @param {number} t @param {number} from @param {number} to */
export function curve({ x, y, lead }, t, from, to) {
  const begin = x(t - 1) + lead;
  const middle = (begin + x(t)) / 2;
  const straight = lead ? `H${begin}` : "";
  return `M${x(t - 1)} ${y(from)}${straight}C${middle} ${y(from)} ${middle} ${y(to)} ${x(t)} ${y(to)}`;
}

// The curves of a path into the words that are `drawn`.
/** @param {number[] | null | undefined} tags @param {Place} xy @param {(t: number) => boolean} [drawn] */
export function along(tags, xy, drawn = () => true) {
  const path = tags ?? [];
  return path.map((k, t) => (t > 0 && drawn(t) ? curve(xy, t, path[t - 1], k) : "")).join("");
}

// Whether the best path crosses a number above its node, but not below; `x` and `y` are the offset of its corner.
/**
 * @param {Pick<Model, "results" | "sees" | "T">} model
 * @param {{ xy: Pick<Parts["xy"], "x" | "y"> }} parts
 * @param {number} t
 * @param {number} k
 * @param {{ x: number, y: number, width: number, height: number }} number
 */
export function standsBelow({ results: { path }, sees, T }, { xy }, t, k, { x, y, width, height }) {
  if (!path || t === T - 1 || !sees("path", t)) return false;
  const way = Math.sign(xy.x(t + 1) - xy.x(t));
  /** @param {number} top */
  const crossed = (top) =>
    lineBetween(xy, t, path[t], path[t + 1]).some(
      ([lineX, lineY]) =>
        way * (lineX - xy.x(t)) > x - THICK &&
        way * (lineX - xy.x(t)) < x + width + THICK &&
        lineY > xy.y(k) + top - THICK &&
        lineY < xy.y(k) + top + height + THICK,
    );
  return crossed(-y - height) && !crossed(y);
}

// Points on the transition between tags at word t and the next one.
/** @param {Pick<Parts["xy"], "x" | "y">} xy @param {number} t @param {number} from @param {number} to */
function lineBetween({ x, y }, t, from, to) {
  return Array.from({ length: POINTS + 1 }, (_, i) => {
    const s = i / POINTS;
    const across = s * s * (3 - 2 * s);
    // Both control points are halfway between the words.
    const along = 1.5 * (1 - s) * s + s ** 3;
    return [x(t) + along * (x(t + 1) - x(t)), y(from) + across * (y(to) - y(from))];
  });
}

// Backpointers that tie with the drawn one, as dashed doubles.
/** @param {Model} model @param {Parts} parts */
export function drawTies(model, parts) {
  const drawn = model.ties.filter(([, , to]) => !parts.folded(to));
  fit(parts.ties, drawn.length, () => svg("path.tie", { fill: "none" })).forEach((tie, i) => {
    set(tie, "data-tie", drawn[i].join());
    const [t, from, to] = drawn[i];
    set(tie, "d", curve(parts.xy, t, from, to));
  });
}

// The terms of the sums in the current column of a walk, with widths by their share.
/** @param {Model} model @param {Parts} parts */
export function drawSums(model, { sums, xy, folded }) {
  const { nodes, steps, T, K, order, cell, sees } = model;
  const t = SUMMED[nodes] && steps && sees("sums") ? steps.column : null;
  const terms = t === null ? [] : order.flatMap((k) => termsOf(model, nodes, t, k));
  const drawn = terms.filter(
    ({ step, from, to, share }) => share > 0 && step > 0 && step < T && !folded(from) && !folded(to),
  );
  fit(sums, drawn.length, () => svg("path.sum", { fill: "none" })).forEach((line, i) => {
    const { step, from, to, share, k } = drawn[i];
    set(line, "data-sum", `${step},${from},${to}`);
    set(line, "d", curve(xy, step, from, to));
    set(line, "stroke-width", (0.6 + 6 * share).toFixed(2));
    flag(line, { chosen: cell[0] === t && cell[1] === k && K > 1 });
  });
}

// The terms of a cell of α, or of β, with their shares of its sum.
/** @param {Model} model @param {string} kind @param {number} t @param {number} k */
function termsOf(model, kind, t, k) {
  const inputs = inputsOf(model, kind, t, k).filter(({ tag }) => tag !== null);
  const shares = sharesOf(
    inputs.map(({ sum }) => sum),
    1,
  );
  return inputs.map((input, i) => {
    const tag = Number(input.tag);
    const ends = kind === "beta" ? { step: t + 1, from: k, to: tag } : { step: t, from: tag, to: k };
    return { ...ends, share: shares[i], k };
  });
}

// END behind the last word of Viterbi: the thick line that arrives there, and the score of the whole path.
/** @param {Model} model @param {Parts} parts */
export function drawEnd(model, { end, xy }) {
  const { nodes, results, sees, T, offset, total, sizes } = model;
  const last = nodes === "best" && sees("path", T - 1) && offset + T === total ? results.path?.[T - 1] : undefined;
  if (last === undefined) return end.replaceChildren();
  if (!end.hasChildNodes()) {
    const text = { "text-anchor": "middle" };
    end.append(svg("path.line.arrival", { fill: "none" }), svg("circle.dot"));
    end.append(svg("text.note-text", text), svg("text.note-text", text));
  }
  const [line, dot, name, number] = end.children;
  const [y, unit] = [xy.y(last), sizes.unit];
  const x = xy.x(T - 1) + xy.lead + xy.way * END_WIDTH * unit;
  set(line, "d", `M${xy.x(T - 1)} ${y}H${x}`);
  setAll(dot, { cx: x, cy: y, r: 5 * unit });
  setText(name, "END");
  setText(number, score(results.score, 1));
  setAll(name, { x, y: y - 10 * unit });
  setAll(number, { x, y: y + 20 * unit, "data-end": results.score.toFixed(6) });
}

// The steps that a set of paths uses; all else is faded.
/** @param {Model} model @param {Parts} parts */
export function drawUsed({ used }, { picture, uses, xy }) {
  flag(picture, { used: Boolean(used) });
  const steps = used?.steps.flatMap((pairs, t) => pairs.map(([from, to]) => [t + 1, from, to])) ?? [];
  fit(uses, steps.length, () => svg("path.use", { fill: "none" })).forEach((line, i) => {
    const [t, from, to] = steps[i];
    set(line, "data-use", steps[i].join());
    set(line, "d", curve(xy, t, from, to));
  });
}

// The samples so far: a line for every sampled transition, with width by its share; and the newest path.
/** @param {Model} model @param {Parts} parts */
export function drawPile({ pile }, { moves, picture, lines, xy }) {
  flag(picture, { pile: Boolean(pile) });
  set(lines.newest, "d", along(pile?.newest, xy));
  fit(moves, pile ? pile.moves.length / 4 : 0, () => svg("path", { fill: "none" })).forEach((line, i) => {
    if (!pile) return;
    const [t, from, to, uses] = pile.moves.subarray(4 * i, 4 * i + 4);
    set(line, "data-move", `${t},${from},${to},${uses}`);
    set(line, "d", curve(xy, t + 1, from, to));
    set(line, "stroke-width", (0.8 + 9 * (uses / pile.drawn)).toFixed(2));
  });
}
