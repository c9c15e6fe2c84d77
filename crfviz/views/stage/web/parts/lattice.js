// The lattice: a node per word and tag, the backpointer into every node or the sums that make it, and the paths drawn
// over them. What a node says is its marginal, or what a walk is computing. Built once per shape; a redraw only sets
// attributes, and takes columns away that are not to be seen. Most of the time of a first picture is the number of its
// elements: a column is built when it is first drawn, and what few nodes need when one of them needs it.

import { changed, closest, flag, hide, html, mark, set, setAll, setText, svg } from "../dom.js";
import { clamp, probability, score, signed } from "../numbers.js";
import { logSumExp } from "../recursions.js";
import { messageInto } from "../stage/inputs.js";
import { cellText } from "./cells.js";
import { along, curve, drawPile, drawSums, drawTies, standsBelow } from "./lattice_paths.js";

/** @import { Attributes, Model, Path, Sizes, Tables } from "../types.js" */

const RADIUS = 14; // of a node with all of the probability, and in rows that are low or high
const MIN_RADIUS = 8;
const ROOM = 0.39; // of a row's height
const LETTER = 6; // its mean width in a note, in pixels at the least size of texts
const NUMBER = 40; // width of a score beside its node
const MAX_LEAD = 0.45; // of a column, that a step leaves to the scores
const NOTED = 0.045; // marginals and changes from here on are written beside the node
const DIGITS_HEIGHT = 0.72; // of a text's size
const LAYERS = { edges: "pointers", nodes: "nodes", notes: "nodes" }; // parts of a walk, as the columns are drawn
const LINES = ["gold", "ghost", "greedy", "best", "newest"]; // from the lowest to the uppermost

/** @typedef {{ x: (t: number) => number, y: (k: number) => number, lead: number }} Place */
/** @typedef {{ group: SVGGElement, dot: Element, ring: SVGCircleElement | null }} LatticeNode */
/** @typedef {{ group: SVGGElement, inside: SVGElement[] }} Column */
/**
 * @typedef {object} Parts
 * @property {HTMLElement[]} labels
 * @property {HTMLElement} foldLabel
 * @property {SVGElement[]} guides
 * @property {Record<string, SVGElement>} lines
 * @property {(LatticeNode[] | null)[]} nodes
 * @property {{ nodes: SVGGElement[], edge: SVGPathElement }} blanks
 * @property {Record<string, Column[]>} columns
 * @property {SVGElement} ties
 * @property {SVGElement} moves
 * @property {SVGElement} sums
 * @property {SVGElement} picture
 * @property {number} places
 * @property {Place} xy
 * @property {(k: number) => boolean} folded
 */

// `onPoint` gets a word and a tag, or null twice, and the name of the pointer's event.
/** @param {Model} model @param {(t: number | null, k: number | null, kind: string) => void} onPoint */
export function buildLattice(model, onPoint) {
  const { T } = model;
  const labels = model.tags.map((tag, k) =>
    html("div.tag-label", { style: `--tag:${model.colours[k]}`, title: tag }, tag),
  );
  const foldLabel = html("div.tag-label.fold-label");
  const guides = model.tags.map(() => svg("line.guide"));
  const lines = Object.fromEntries(LINES.map((name) => [name, svg(`path.line.${name}`, { fill: "none" })]));
  const [ties, moves, sums] = ["ties", "moves", "sums"].map((name) => svg(`g.${name}`));
  const columns = Object.fromEntries(
    Object.keys(LAYERS).map((layer) => [layer, Array.from({ length: T }, () => ({ group: svg("g"), inside: [] }))]),
  );
  const [below, ...above] = Object.values(columns).map((layer) => layer.map(({ group }) => group));
  const layers = [guides, below, sums, ties, moves, Object.values(lines), above].flat(2);
  const picture = svg("svg.lattice-picture", { role: "group", "aria-label": "Viterbi lattice" }, layers);
  listen(picture, onPoint);
  /** @type {Parts["nodes"]} */
  const nodes = Array(T).fill(null); // a column each, null until it is built
  const blanks = { nodes: model.colours.map(blankNode), edge: svg("path.edge") };
  const xy = { x: () => 0, y: () => 0, lead: 0 };
  const groups = { columns, ties, moves, sums, picture };
  /** @type {Parts} */
  const parts = { labels, foldLabel, guides, lines, nodes, blanks, ...groups, places: 0, xy, folded: () => false };
  const element = html("div.lattice", html("div.label.lattice-labels", labels, foldLabel), picture);
  return {
    element,
    /** @param {number} t @param {number} k */
    focus: (t, k) => nodes[t]?.[k]?.group.focus(),
    /** @param {Model} next */
    update(next) {
      hide(element, next.covered.has("lattice"));
      const { column, lefts, row, rowOf, unit } = next.sizes;
      const lead = next.nodes === "marginals" ? 0 : Math.min(NUMBER * unit, MAX_LEAD * column);
      parts.xy = { x: (t) => (lefts[t] + lefts[t + 1]) / 2, y: (k) => (rowOf[k] + 0.5) * row, lead };
      parts.folded = (k) => !next.shown.has(k);
      if (changed(picture, lefts.join(), row, rowOf, lead, [...next.shown])) place(next, parts);
      update(next, parts);
    },
    // The words that have been scrolled into sight; all else is as it was drawn.
    /** @param {Model} next @param {Set<number>} before */
    scroll(next, before) {
      const columns = columnsOf(next);
      showColumns(next, parts, columns);
      drawColumns(
        next,
        parts,
        [...columns].filter((t) => !before.has(t)),
      );
    },
  };
}

/** @param {SVGElement} picture @param {(t: number | null, k: number | null, kind: string) => void} onPoint */
function listen(picture, onPoint) {
  for (const name of ["pointerover", "focusin", "click"]) {
    picture.addEventListener(name, (event) => {
      const [node, edge] = ["[data-node]", "[data-edge]"].map((kind) => closest(event, kind));
      const [t, from, to] = (node?.dataset.node ?? edge?.dataset.edge ?? "").split(",").map(Number);
      if (node) onPoint(t, from, name);
      else if (edge && name === "click") onPoint(t, to, name); // the cell it leads into
    });
  }
  for (const name of ["pointerleave", "focusout"]) picture.addEventListener(name, () => onPoint(null, null, name));
}

/** @param {Model} model @param {Parts} parts @param {number} t */
function buildColumn(model, parts, t) {
  const { nodes, blanks, columns } = parts;
  const built = blanks.nodes.map((blank, k) => buildNode(blank, t, k));
  nodes[t] = built;
  columns.nodes[t].inside = built.map(({ group }) => group);
  columns.edges[t].inside = t > 0 ? model.tags.map(() => /** @type {SVGPathElement} */ (blanks.edge.cloneNode())) : [];
  placeColumn(parts, t);
}

// A node of a tag, of which there is one at every word: to copy it is quicker than to make its parts.
/** @param {string} fill */
function blankNode(fill) {
  const hit = svg("circle.hit", { r: 12 }); // small nodes, too, are easy to point at
  return svg("g.node", { tabindex: -1, role: "img" }, hit, svg("circle.dot", { fill }));
}

/** @param {SVGGElement} blank @param {number} t @param {number} k @returns {LatticeNode} */
function buildNode(blank, t, k) {
  const group = /** @type {SVGGElement} */ (blank.cloneNode(true));
  group.dataset.node = `${t},${k}`;
  return { group, dot: group.children[1], ring: null };
}

// The node of a column that is built.
/** @param {Parts} parts @param {number} t @param {number} k */
function nodeAt({ nodes }, t, k) {
  return /** @type {LatticeNode[]} */ (nodes[t])[k];
}

// Sizes and positions: after a resize, a fold or another sentence.
/** @param {Model} model @param {Parts} parts */
function place({ T, K, shown, sizes: { lefts, row, rows } }, parts) {
  const { labels, foldLabel, guides, nodes, picture, xy, folded } = parts;
  parts.places += 1; // so that every edge is redrawn
  const [width, height] = [lefts[T], rows * row];
  setAll(picture, { width, height, viewBox: `0 0 ${width} ${height}` });
  labels.forEach((label, k) => {
    hide(label, folded(k));
    label.style.top = `${xy.y(k)}px`;
  });
  hide(foldLabel, shown.size === K);
  setText(foldLabel, `+ ${K - shown.size} tags`);
  foldLabel.style.top = `${(rows - 0.5) * row}px`;
  guides.forEach((guide, k) => setAll(guide, { x1: 0, x2: width, y1: xy.y(k), y2: xy.y(k) }));
  nodes.forEach((column, t) => column && placeColumn(parts, t));
}

/** @param {Parts} parts @param {number} t */
function placeColumn(parts, t) {
  const { nodes, columns } = parts;
  nodes[t]?.forEach((node, k) => {
    putAt(node.group, parts, t, k);
    const note = columns.notes[t].inside[k];
    if (note) putAt(note, parts, t, k);
  });
}

/** @param {Element} element @param {Parts} parts @param {number} t @param {number} k */
function putAt(element, { xy, folded }, t, k) {
  set(element, "transform", `translate(${xy.x(t)} ${xy.y(k)})`);
  flag(element, { folded: folded(k) });
}

/** @param {Model} model @param {Parts} parts */
function update(model, parts) {
  const { results, ghost, sees } = model;
  const { lines, xy } = parts;
  const { path } = results;
  const columns = columnsOf(model);
  showColumns(model, parts, columns);
  drawColumns(model, parts, columns);
  /** @param {string} id */
  const row = (id) => (sees(id) ? model.rows.find((other) => other.id === id)?.tags : null);
  /** @param {number[]} tags @returns {(t: number) => boolean} */
  const differs = (tags) => (t) => !path || tags[t] !== path[t] || tags[t - 1] !== path[t - 1];
  /** @param {Path | undefined} tags */
  const differing = (tags) => (tags ? along(tags, xy, differs(tags)) : "");
  set(lines.best, "d", sees("path") ? along(path, xy, (t) => sees("path", t - 1)) : "");
  const compared = sees("path", 0); // where both paths are there from end to end
  set(lines.ghost, "d", compared && !model.walking ? differing(ghost?.path) : "");
  set(lines.greedy, "d", compared ? differing(row(model.contrast)) : "");
  const gold = row("gold"); // -1 at a word that is left open
  set(lines.gold, "d", compared && !gold?.includes(-1) ? differing(gold) : "");
  drawTies(model, parts);
  drawSums(model, parts);
  drawPile(model, parts);
}

/** @param {Model} model @param {Parts} parts @param {Iterable<number>} columns */
function drawColumns(model, parts, columns) {
  const numbers = numbersOf(model);
  for (const t of columns) {
    for (let k = 0; k < model.K; k++) {
      if (model.sees("nodes", t)) drawNode(model, parts, t, k, numbers);
      if (t > 0 && model.sees("pointers", t)) drawEdge(model, parts, t, k);
    }
  }
}

// The words that are drawn. The chosen cell is always among them, for the Tab key leads there.
/** @param {Pick<Model, "inSight" | "sparse" | "cell">} model @returns {Set<number>} */
export function columnsOf({ inSight: { from, to }, sparse, cell }) {
  const columns = new Set(Array.from({ length: to - from }, (_, i) => from + i));
  return sparse ? columns.add(cell[0]) : columns;
}

// What is not to be seen is not there; what is scrolled away waits while something is dragged, and in large lattices.
/** @param {Model} model @param {Parts} parts @param {Set<number>} drawn */
function showColumns(model, parts, drawn) {
  const { sees, sparse } = model;
  for (const t of drawn) {
    if (!parts.nodes[t] && (sees("nodes", t) || sees("pointers", t))) buildColumn(model, parts, t);
  }
  for (const [layer, part] of Object.entries(LAYERS)) {
    parts.columns[layer].forEach((column, t) => {
      const inSight = drawn.has(t);
      showColumn(column, sees(part, t) && (inSight || !sparse));
      flag(column.group, { outOfSight: !inSight });
    });
  }
}

/** @param {Column} column @param {boolean} seen */
function showColumn({ group, inside }, seen) {
  if (seen !== group.hasChildNodes()) group.replaceChildren(...(seen ? Object.values(inside) : []));
}

// The backpointer into (t, k).
/** @param {Model} model @param {Parts} parts @param {number} t @param {number} k */
function drawEdge({ K, results, survivor: prefix, sees }, { columns, places, folded, xy }, t, k) {
  const { path, backpointers } = results;
  const edge = columns.edges[t].inside[k];
  const from = backpointers[t * K + k];
  const best = sees("path", t - 1) && path?.[t] === k && path[t - 1] === from;
  const survivor = prefix?.[t] === k;
  if (!changed(edge, places, from, best, survivor)) return;
  set(edge, "d", from >= 0 ? curve(xy, t, from, k) : "");
  flag(edge, { edge: from >= 0 && `${t},${from},${k}`, folded: folded(k), best, survivor });
}

// What the nodes say: null for their marginals, else the scores that are being computed, the largest of each word, and
// how the numbers are written.
/** @param {Model} model */
function numbersOf(model) {
  const { nodes, results, tables, messages, T, K } = model;
  if (nodes === "marginals") return null;
  const arriving = messages && nodes === "alpha";
  const own = tables.find(({ name }) => name === nodes);
  const scores = arriving
    ? results.alpha.map((_, i) => messageInto(model, Math.floor(i / K), i % K))
    : (results[/** @type {keyof Tables} */ (nodes)] ?? own?.values);
  const columns = Array.from({ length: T }, (_, t) => scores.subarray(t * K, (t + 1) * K));
  const largest = columns.map((column) => Math.max(...column.filter((value) => value < Infinity)));
  const { kind, digits } = own ?? { kind: "score", digits: 1 };
  const sums = kind === "probability" ? columns.map(logSumExp) : null;
  /** @param {number} i */
  const text = (i) => {
    if (own?.written) return own.written.has(i) ? cellText(own, scores[i]) : "";
    if (kind === "score") return score(scores[i]);
    return cellText({ kind, digits }, Math.exp(scores[i] - (sums?.[Math.floor(i / K)] ?? 0)));
  };
  /** @param {number} i */
  const share = (i) =>
    Number.isFinite(scores[i]) ? Math.exp(scores[i] - largest[Math.floor(i / K)]) : Number(scores[i] === Infinity);
  return { name: nodes, scores, share, text };
}

/**
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {ReturnType<typeof numbersOf>} numbers
 */
function drawNode(model, parts, t, k, numbers) {
  const { pins, words, tags, lit, results, sees } = model;
  const best = sees("path", t) && results.path?.[t] === k;
  const selected = model.cell[0] === t && model.cell[1] === k;
  const lights = lit?.t === t && Number(lit.shares.get(k)) >= 0.01;
  const pinned = pins.some(([at, tag]) => at === t && tag === tags[k]);
  const gold = model.reference === "gold" ? model.rows.find(({ id }) => id === "gold")?.tags : null;
  const wrong = best && Boolean(gold) && gold?.[t] !== k;
  const { group } = nodeAt(parts, t, k);
  flag(group, { lit: lights, pinned, best, wrong });
  set(group, "tabindex", selected ? 0 : -1);
  const name = `${words[t]}: ${tags[k]}`;
  if (numbers) drawScore(model, parts, t, k, name, numbers);
  else drawMarginal(model, parts, t, k, name);
}

// As large as its share of the largest at its word.
/**
 * @param {Model} model
 * @param {Parts} parts
 * @param {number} t
 * @param {number} k
 * @param {string} name
 * @param {NonNullable<ReturnType<typeof numbersOf>>} numbers
 */
function drawScore({ sizes, K }, parts, t, k, name, numbers) {
  const { group, dot, ring } = nodeAt(parts, t, k);
  const i = t * K + k;
  const [value, text] = [numbers.scores[i], numbers.text(i)];
  const radius = radiusOf(sizes)(value === -Infinity ? 0 : numbers.share(i));
  if (!changed(group, numbers.name, value, text, radius)) return;
  mark(group, "data-marginal", null);
  flag(group, { value: value === -Infinity ? "-inf" : value.toFixed(6) });
  set(group, "aria-label", `${name}, ${numbers.name} ${score(value, 4)}`);
  set(dot, "r", radius.toFixed(2));
  if (ring) hide(ring);
  const [x, y] = [(radius * 0.75 + 3).toFixed(1), (-radius * 0.55 - 3).toFixed(1)];
  drawNote(parts, t, k, text, { "text-anchor": "start", x, y });
}

// The text beside a node; most have none.
/** @param {Parts} parts @param {number} t @param {number} k @param {string} text @param {Attributes} place */
function drawNote(parts, t, k, text, place) {
  const { group, inside } = parts.columns.notes[t]; // by tag, with gaps
  if (!inside[k]) {
    if (!text) return;
    inside[k] = svg("text.note-text");
    putAt(inside[k], parts, t, k);
    group.insertBefore(inside[k], inside.find((note, after) => note && after > k) ?? null);
  }
  setText(inside[k], text);
  setAll(inside[k], place);
}

// How large a node was; where that was as large as it is, there is none.
/** @param {LatticeNode} node @param {number | null} radius */
function drawRing(node, radius) {
  if (node.ring) hide(node.ring, radius === null);
  if (radius === null) return;
  if (!node.ring) {
    node.ring = svg("circle.ring");
    node.dot.before(node.ring);
  }
  set(node.ring, "r", radius.toFixed(2));
}

/** @param {Model} model @param {Parts} parts @param {number} t @param {number} k @param {string} name */
function drawMarginal(model, parts, t, k, name) {
  const node = nodeAt(parts, t, k);
  const { group, dot } = node;
  const i = t * model.K + k;
  const { marginal, sampled, before, change, noted } = shareOf(model, i);
  const { row, column, unit, lengths } = model.sizes;
  const free = t === model.T - 1 || !shareOf(model, i + model.K).noted; // the room of the next column
  const radius = radiusOf(model.sizes);
  const corner = { x: radius(Math.max(marginal, before)) * 0.75 + 3, y: radius(marginal) * 0.55 + 3 };
  const letters = { width: LETTER * unit * probability(marginal).length, height: DIGITS_HEIGHT * lengths.text };
  const below =
    noted &&
    hasRoomBelow(model, t, k, corner.y + letters.height) &&
    standsBelow(model, parts, t, k, { ...corner, ...letters });
  if (!changed(group, marginal, before, sampled, row, column, free, below)) return;
  flag(group, { value: false, marginal: marginal.toFixed(6) });
  set(group, "aria-label", `${name}, marginal ${marginal.toFixed(4)}`);
  set(dot, "r", radius(marginal).toFixed(2));
  drawRing(node, Math.abs(change) < 0.005 ? null : radius(before));
  const note = ` (${signed(change)})`;
  const fits = free || LETTER * unit * (probability(marginal) + note).length + radius(marginal) <= column;
  const changes = sampled === null && Math.abs(change) >= 0.005 && fits ? note : "";
  const share = sampled === null ? changes : ` | ${probability(sampled)}`;
  const atTheEdge = sampled !== null && t === model.T - 1; // two numbers are too wide for the last column
  const x = atTheEdge ? 24 : corner.x.toFixed(1);
  const y = (below ? corner.y + letters.height : -corner.y).toFixed(1);
  const text = noted ? probability(marginal) + share : "";
  drawNote(parts, t, k, text, { "text-anchor": atTheEdge ? "end" : "start", x, y });
}

// Whether two numbers fit between a node and the one in the next row, or that one has none.
/** @param {Model} model @param {number} t @param {number} k @param {number} needed */
function hasRoomBelow(model, t, k, needed) {
  const { row, rowOf } = model.sizes;
  const next = rowOf.indexOf(rowOf[k] + 1);
  return row >= 2 * needed || next < 0 || !shareOf(model, t * model.K + next).noted;
}

// The marginal of a node, what it is compared with, and whether the node has a number.
/** @param {Model} model @param {number} i */
function shareOf({ results, pile, ghost }, i) {
  const marginal = results.marginals[i];
  const sampled = pile?.drawn ? pile.uses[i] / pile.drawn : null; // the ring is the samples' where there are some
  const before = sampled ?? (ghost && !pile ? ghost.marginals[i] : marginal);
  const change = marginal - before;
  return { marginal, sampled, before, change, noted: marginal >= NOTED || Math.abs(change) >= NOTED };
}

// The area of a node is its marginal.
/** @param {Sizes} sizes */
function radiusOf({ row, unit }) {
  const largest = clamp(ROOM * row, MIN_RADIUS, RADIUS * unit);
  /** @param {number} marginal */
  return (marginal) => 2 + (largest - 2) * Math.sqrt(marginal);
}
