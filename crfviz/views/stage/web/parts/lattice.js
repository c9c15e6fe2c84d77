// The Viterbi lattice: a node per word and tag (its radius the marginal), the backpointer into every node,
// and the paths drawn over them. Built once per shape; a redraw only sets attributes.

import { changed, fit, flag, hide, html, set, setProperty, setText, svg } from "../dom.js";
import { probability, signed } from "../numbers.js";

const LARGEST_RADIUS = 14;
const COMPACT_RADIUS = 8;
const NOTED = 0.045; // marginals and changes from here on are written beside the node
const LINES = ["gold", "ghost", "greedy", "best", "newest"]; // from the lowest to the uppermost

// `onPoint` gets a word and a tag, or null twice, and the name of the pointer's event.
export function buildLattice(model, onPoint) {
  const { T, K } = model;
  const labels = model.tags.map((tag, k) =>
    html("div.tag-label", { style: `--tag:${model.colours[k]}`, title: tag }, tag),
  );
  const foldLabel = html("div.tag-label.fold-label");
  const guides = model.tags.map(() => svg("line.guide"));
  const edges = grid(T, K, (t) => (t === 0 ? null : svg("path.edge", { fill: "none" })));
  const lines = Object.fromEntries(LINES.map((name) => [name, svg(`path.line.${name}`, { fill: "none" })]));
  const nodes = grid(T, K, (t, k) => buildNode(model, t, k));
  const [ties, moves] = [svg("g.ties"), svg("g.moves")];
  const [groups, notes] = ["group", "note"].map((part) => grid(T, K, (t, k) => nodes[t][k][part]));
  const columns = [edges, groups, notes].map((cells) => cells.map((column) => svg("g", column.filter(Boolean))));
  const [below, ...above] = columns;
  const layers = [guides, below, ties, moves, Object.values(lines), above].flat(2);
  const picture = svg("svg.lattice-picture", { role: "group", "aria-label": "Viterbi lattice" }, layers);
  listen(picture, onPoint);
  const parts = { labels, foldLabel, guides, edges, lines, nodes, columns, ties, moves, picture };
  return {
    element: html("div.lattice", html("div.label.lattice-labels", labels, foldLabel), picture),
    focus: (t, k) => nodes[t]?.[k]?.group.focus(),
    update(next) {
      const { column, row, rowOf } = next.sizes;
      parts.xy = { x: (t) => (t + 0.5) * column, y: (k) => (rowOf[k] + 0.5) * row };
      parts.folded = (k) => !next.shown.has(k);
      parts.placing = [column, row, ...rowOf, ...next.shown].join();
      if (changed(picture, parts.placing)) place(next, parts);
      update(next, parts);
    },
  };
}

function listen(picture, onPoint) {
  for (const name of ["pointerover", "focusin", "click"]) {
    picture.addEventListener(name, (event) => {
      const [node, edge] = ["[data-node]", "[data-edge]"].map((kind) => event.target.closest?.(kind));
      const [t, from, to] = (node?.dataset.node ?? edge?.dataset.edge ?? "").split(",").map(Number);
      if (node) onPoint(t, from, name);
      else if (edge && name === "click") onPoint(t, to, name); // the cell it leads into
    });
  }
  for (const name of ["pointerleave", "focusout"]) picture.addEventListener(name, () => onPoint(null, null, name));
}

function buildNode(model, t, k) {
  const [ring, dot] = [svg("circle.ring"), svg("circle.dot")];
  const hit = svg("circle.hit", { r: 11 }); // small nodes, too, are easy to point at
  const group = svg("g.node", { "data-node": `${t},${k}`, tabindex: -1, role: "img" }, hit, ring, dot);
  setProperty(group, "--tag", model.colours[k]);
  return { ring, dot, group, note: svg("text.note-text") }; // the note apart: the group's middle must be the dot's
}

// Sizes and positions: after a resize, a fold or another sentence.
function place(
  { T, K, shown, sizes: { column, row, rows } },
  { labels, foldLabel, guides, nodes, picture, xy, folded },
) {
  const [width, height] = [T * column, rows * row];
  setAll(picture, { width, height, viewBox: `0 0 ${width} ${height}` });
  labels.forEach((label, k) => {
    hide(label, folded(k));
    label.style.top = `${xy.y(k)}px`;
  });
  hide(foldLabel, shown.size === K);
  setText(foldLabel, `+ ${K - shown.size} tags`);
  foldLabel.style.top = `${(rows - 0.5) * row}px`;
  guides.forEach((guide, k) => setAll(guide, { x1: 0, x2: width, y1: xy.y(k), y2: xy.y(k) }));
  forEachCell(nodes, (node, t, k) => {
    for (const element of [node.group, node.note]) {
      set(element, "transform", `translate(${xy.x(t)} ${xy.y(k)})`);
      flag(element, { folded: folded(k) });
    }
  });
}

function update(model, parts) {
  const { results, revealed, ghost, inSight } = model;
  const { lines, xy } = parts;
  const { path } = results;
  for (const groups of parts.columns) {
    groups.forEach((group, t) => flag(group, { outOfSight: t < inSight.from || t >= inSight.to }));
  }
  for (let t = inSight.from; t < inSight.to; t++) {
    for (let k = 0; k < model.K; k++) {
      drawNode(model, parts.nodes[t][k], t, k);
      if (t > 0) drawEdge(model, parts, t, k);
    }
  }
  const row = (id) => model.rows.find((other) => other.id === id)?.tags;
  const differs = (tags) => (t) => !path || tags[t] !== path[t] || tags[t - 1] !== path[t - 1];
  const differing = (tags) => along(tags, xy, differs(tags));
  const known = (t) => t > revealed.from;
  set(lines.best, "d", along(path, xy, known));
  set(lines.ghost, "d", differing(ghost?.path));
  set(lines.greedy, "d", revealed.from > 0 ? "" : differing(row(model.contrast)));
  set(lines.gold, "d", differing(row("gold")));
  drawTies(model, parts);
  drawPile(model, parts);
}

// The backpointer into (t, k).
function drawEdge({ K, results, revealed, survivor: prefix }, { edges, placing, folded, xy }, t, k) {
  const { path, backpointers } = results;
  const edge = edges[t][k];
  const from = backpointers[t * K + k];
  const best = Boolean(path) && path[t] === k && path[t - 1] === from;
  const survivor = prefix?.[t] === k;
  const later = t >= revealed.columns;
  if (!changed(edge, placing, from, best, survivor, later)) return;
  set(edge, "d", from >= 0 ? curve(xy, t, from, k) : "");
  flag(edge, { edge: from >= 0 && `${t},${from},${k}`, folded: folded(k), later, best, survivor });
}

function drawNode(model, { group, dot, ring, note }, t, k) {
  const { results, pile, ghost, revealed, pins, words, tags, lit } = model;
  const i = t * model.K + k;
  const marginal = results.marginals[i];
  const sampled = pile?.drawn ? pile.uses[i] / pile.drawn : null; // the ring is the samples' where there are some
  const before = sampled ?? (ghost && !pile ? ghost.marginals[i] : marginal);
  const change = marginal - before;
  const best = results.path?.[t] === k && t >= revealed.from;
  const later = t >= revealed.columns;
  const selected = model.cell[0] === t && model.cell[1] === k;
  const lights = lit?.t === t && lit.shares.get(k) >= 0.01;
  if (!changed(group, marginal, before, sampled, best, later, selected, lights, pins)) return;
  const pinned = pins.some(([at, tag]) => at === t && tag === tags[k]);
  flag(group, { lit: lights, pinned, best, later, marginal: marginal.toFixed(6) });
  flag(note, { later });
  set(group, "tabindex", selected ? 0 : -1);
  set(group, "aria-label", `${words[t]}: ${tags[k]}, marginal ${marginal.toFixed(4)}`);
  const radius = radiusOf(model.panels.compact ? COMPACT_RADIUS : LARGEST_RADIUS);
  set(dot, "r", radius(marginal).toFixed(2));
  hide(ring, Math.abs(change) < 0.005);
  set(ring, "r", radius(before).toFixed(2));
  const noted = marginal >= NOTED || Math.abs(change) >= NOTED;
  const changes = sampled === null && Math.abs(change) >= 0.005 ? ` (${signed(change)})` : "";
  const share = sampled === null ? changes : ` | ${probability(sampled)}`;
  setText(note, noted ? probability(marginal) + share : "");
  const atTheEdge = sampled !== null && t === model.T - 1; // two numbers are too wide for the last column
  const x = atTheEdge ? 24 : (radius(Math.max(marginal, before)) * 0.75 + 3).toFixed(1);
  setAll(note, { "text-anchor": atTheEdge ? "end" : "start", x, y: (-radius(marginal) * 0.55 - 3).toFixed(1) });
}

// The samples so far: a line for every move that some of them make, as wide as their share; and the newest path.
function drawPile({ pile }, { moves, picture, lines, xy }) {
  flag(picture, { pile: Boolean(pile) });
  set(lines.newest, "d", along(pile?.newest, xy));
  fit(moves, pile ? pile.moves.length / 4 : 0, () => svg("path", { fill: "none" })).forEach((line, i) => {
    const [t, from, to, uses] = pile.moves.subarray(4 * i, 4 * i + 4);
    set(line, "data-move", `${t},${from},${to},${uses}`);
    set(line, "d", curve(xy, t + 1, from, to));
    set(line, "stroke-width", (0.8 + 9 * (uses / pile.drawn)).toFixed(2));
  });
}

// Backpointers that tie with the drawn one, as dashed doubles.
function drawTies(model, parts) {
  const drawn = (model.ties ?? []).filter(([, , to]) => !parts.folded(to));
  fit(parts.ties, drawn.length, () => svg("path.tie", { fill: "none" })).forEach((tie, i) => {
    set(tie, "data-tie", drawn[i].join());
    const [t, from, to] = drawn[i];
    set(tie, "d", curve(parts.xy, t, from, to));
  });
}

// The area of a node is its marginal.
function radiusOf(largest) {
  return (marginal) => 2 + (largest - 2) * Math.sqrt(marginal);
}

// The step from a tag into another one at word t.
function curve({ x, y }, t, from, to) {
  const middle = (x(t - 1) + x(t)) / 2;
  return `M${x(t - 1)} ${y(from)}C${middle} ${y(from)} ${middle} ${y(to)} ${x(t)} ${y(to)}`;
}

// The steps of a path into the words that are `drawn`.
function along(tags, xy, drawn = () => true) {
  return (tags ?? []).map((k, t) => (t > 0 && drawn(t) ? curve(xy, t, tags[t - 1], k) : "")).join("");
}

function setAll(element, values) {
  for (const [name, value] of Object.entries(values)) set(element, name, value);
}

function grid(T, K, make) {
  return Array.from({ length: T }, (_, t) => Array.from({ length: K }, (_, k) => make(t, k)));
}

function forEachCell(cells, act) {
  cells.forEach((column, t) => column.forEach((cell, k) => act(cell, t, k)));
}
