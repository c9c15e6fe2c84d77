// The lattice: a node per word and tag, the backpointer into every node or the terms of its sum, and the paths on top.
// A node shows its marginal, or the value that a walk computes. It is built once per shape; a redraw only sets
// attributes, and removes invisible columns. The time of the first draw depends on the number of elements. So a column
// is built when it is first drawn, and optional parts of a node when they are needed.

import { changed, closest, flag, hide, html, set, setAll, svg } from "../dom.js";
import { drawFolded, drawNode, numbersOf, putAt } from "./lattice_nodes.js";
import { along, curve, drawEnd, drawPile, drawSums, drawTies, drawUsed, middlesOf, NUMBER } from "./lattice_paths.js";

/** @import { Model, Path } from "../types.js" */

const MAX_LEAD = 0.62; // share of a column that a transition leaves to the scores
const LAYERS = { edges: "pointers", nodes: "nodes", notes: "nodes" }; // parts of a walk, by layer of the columns
const LINES = ["gold", "ghost", "greedy", "best", "newest"]; // from bottom to top

// `lead` is in the reading direction, `way` is -1 from right to left.
/** @typedef {{ x: (t: number) => number, y: (k: number) => number, lead: number, way: number }} Place */
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
 * @property {SVGElement} rest
 * @property {SVGElement} end
 * @property {SVGElement} uses
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
  const groupNames = ["ties", "moves", "sums", "rest", "end", "uses"];
  const [ties, moves, sums, rest, end, uses] = groupNames.map((name) => svg(`g.${name}`));
  const columns = Object.fromEntries(
    Object.keys(LAYERS).map((layer) => [layer, Array.from({ length: T }, () => ({ group: svg("g"), inside: [] }))]),
  );
  const [below, ...above] = Object.values(columns).map((layer) => layer.map(({ group }) => group));
  const layers = [guides, below, sums, uses, ties, moves, Object.values(lines), end, above, rest].flat(2);
  const picture = svg("svg.lattice-picture", { role: "group", "aria-label": "Viterbi lattice" }, layers);
  listen(picture, onPoint);
  /** @type {Parts["nodes"]} */
  const nodes = Array(T).fill(null); // a column each, null until it is built
  const blanks = { nodes: model.colours.map(blankNode), edge: svg("path.edge") };
  const xy = { x: () => 0, y: () => 0, lead: 0, way: 1 };
  const groups = { columns, ties, moves, sums, rest, end, uses, picture };
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
      const way = next.rtl ? -1 : 1;
      parts.xy = { x: middlesOf(next), y: (k) => (rowOf[k] + 0.5) * row, lead: way * lead, way };
      parts.folded = (k) => !next.shown.has(k);
      if (changed(picture, lefts.join(), row, rowOf, lead, way, [...next.shown])) place(next, parts);
      update(next, parts);
    },
    // Draws the words that have been scrolled into view; all others are unchanged.
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
      else if (edge && name === "click") onPoint(t, to, name); // the cell at the end of the edge
    });
  }
  for (const name of ["pointerleave", "focusout"]) {
    picture.addEventListener(name, (event) => {
      if (!("pointerType" in event && event.pointerType === "touch")) onPoint(null, null, name); // a finger stays
    });
  }
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

// A template node of a tag: cloning it is faster than creating its parts.
/** @param {string} fill */
function blankNode(fill) {
  const hit = svg("circle.hit", { r: 12 }); // makes small nodes easy to point at
  return svg("g.node", { tabindex: -1, role: "img" }, hit, svg("circle.dot", { fill }));
}

/** @param {SVGGElement} blank @param {number} t @param {number} k @returns {LatticeNode} */
function buildNode(blank, t, k) {
  const group = /** @type {SVGGElement} */ (blank.cloneNode(true));
  group.dataset.node = `${t},${k}`;
  return { group, dot: group.children[1], ring: null };
}

// Updates sizes and positions after a resize, a fold or a new sentence.
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
  const compared = sees("path", 0); // once both paths are complete
  set(lines.ghost, "d", compared && !model.walking ? differing(ghost?.path) : "");
  set(lines.greedy, "d", compared ? differing(row(model.contrast)) : "");
  const gold = row("gold"); // -1 at a word without a gold tag
  set(lines.gold, "d", compared && !gold?.includes(-1) ? differing(gold) : "");
  drawTies(model, parts);
  drawSums(model, parts);
  drawPile(model, parts);
  drawFolded(model, parts, columns);
  drawEnd(model, parts);
  drawUsed(model, parts);
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

// The drawn words. The chosen cell is always among them, because the Tab key leads there.
/** @param {Pick<Model, "inSight" | "sparse" | "cell">} model @returns {Set<number>} */
export function columnsOf({ inSight: { from, to }, sparse, cell }) {
  const columns = new Set(Array.from({ length: to - from }, (_, i) => from + i));
  return sparse ? columns.add(cell[0]) : columns;
}

// Removes invisible columns; during a drag, and in large lattices, also those scrolled away.
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

// Draws the backpointer into (t, k).
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
