// The Viterbi lattice: a node per word and tag (its radius the marginal), the backpointer into every node,
// and the paths drawn over them. Built once per shape; a redraw only sets attributes.

import { changed, html, mark, set, setProperty, setText, svg } from "./dom.js";
import { probability, signed } from "./numbers.js";

const LARGEST_RADIUS = 14;
const COMPACT_RADIUS = 8;
const NOTED = 0.045; // marginals and changes from here on are written beside the node

export function buildLattice(model, geometry, { onPoint }) {
  const { T, K } = model;
  const labels = model.tags.map((tag, k) => html("div", { class: "tag-label", text: tag, style: `--tag:${model.colours[k]}` }));
  const foldLabel = html("div", { class: "tag-label fold-label" });
  const labelColumn = html("div", { class: "label lattice-labels" }, [...labels, foldLabel]);
  const guides = model.tags.map(() => svg("line", { class: "guide" }));
  const edges = grid(T, K, (t, k) => (t === 0 ? null : svg("path", { class: "edge", fill: "none" })));
  const lines = Object.fromEntries(["gold", "ghost", "greedy", "best", "newest"].map((name) => [name, svg("path", { class: `line ${name}`, fill: "none" })]));
  const nodes = grid(T, K, (t, k) => buildNode(model, t, k));
  const columns = {
    edges: edges.map((column) => svg("g", {}, column.filter(Boolean))),
    nodes: nodes.map((column) => svg("g", {}, column.map((node) => node.group))),
    notes: nodes.map((column) => svg("g", {}, column.map((node) => node.note))),
  };
  const tiesGroup = svg("g", { class: "ties" });
  const movesGroup = svg("g", { class: "moves" });
  const picture = svg("svg", { class: "lattice-picture", role: "group", "aria-label": "Viterbi lattice" }, [
    ...guides,
    ...columns.edges,
    tiesGroup,
    movesGroup,
    lines.gold,
    lines.ghost,
    lines.greedy,
    lines.best,
    lines.newest,
    ...columns.nodes,
    ...columns.notes,
  ]);
  const element = html("div", { class: "lattice" }, [labelColumn, picture]);
  const parts = { labels, foldLabel, guides, edges, lines, nodes, columns, tiesGroup, movesGroup, picture };
  for (const name of ["pointerover", "focusin", "click"]) {
    picture.addEventListener(name, (event) => {
      const [node, edge] = ["[data-node]", "[data-edge]"].map((kind) => event.target.closest?.(kind));
      if (node) onPoint(...node.dataset.node.split(",").map(Number), name);
      else if (edge && name === "click") onPoint(...edge.dataset.edge.split(",").map(Number).filter((_, i) => i !== 1), name); // the cell it leads into
    });
  }
  for (const name of ["pointerleave", "focusout"]) picture.addEventListener(name, () => onPoint(null, null, name));
  return {
    element,
    focus: (t, k) => nodes[t]?.[k]?.group.focus(),
    place: (next, shape) => place(next, shape, parts),
    update: (next) => update(next, parts),
  };
}

function buildNode(model, t, k) {
  const parts = {
    ring: svg("circle", { class: "ring" }),
    dot: svg("circle", { class: "dot" }),
    note: svg("text", { class: "note-text" }), // apart from the group, whose middle must be the dot's
  };
  const hit = svg("circle", { class: "hit", r: 11 }); // small nodes, too, are easy to point at
  const group = svg("g", { class: "node", "data-node": `${t},${k}`, tabindex: "-1", role: "img" }, [hit, parts.ring, parts.dot]);
  setProperty(group, "--tag", model.colours[k]);
  return { ...parts, group };
}

// Sizes and positions: after a resize, a fold or another sentence.
function place(model, { label, column, row, rowOf, rows }, parts) {
  const x = (t) => (t + 0.5) * column;
  const y = (k) => (rowOf[k] + 0.5) * row;
  const [width, height] = [model.T * column, rows * row];
  set(parts.picture, "width", width);
  set(parts.picture, "height", height);
  set(parts.picture, "viewBox", `0 0 ${width} ${height}`);
  parts.xy = { x, y, label, column };
  const folded = new Set(model.tags.map((_, k) => k).filter((k) => !model.shown.has(k)));
  parts.labels.forEach((element, k) => {
    mark(element, "hidden", folded.has(k));
    element.style.top = `${y(k)}px`;
  });
  mark(parts.foldLabel, "hidden", folded.size === 0);
  setText(parts.foldLabel, `+ ${folded.size} tags`);
  parts.foldLabel.style.top = `${(rows - 0.5) * row}px`;
  parts.guides.forEach((guide, k) => {
    for (const [name, value] of [["x1", 0], ["x2", width], ["y1", y(k)], ["y2", y(k)]]) set(guide, name, value);
  });
  parts.nodes.forEach((column_, t) =>
    column_.forEach((node, k) => {
      for (const element of [node.group, node.note]) {
        set(element, "transform", `translate(${x(t)} ${y(k)})`);
        mark(element, "data-folded", folded.has(k));
      }
    }),
  );
  parts.folded = folded;
  parts.placed = (parts.placed ?? 0) + 1;
  update(model, parts);
}

function update(model, parts) {
  const { K } = model;
  const { marginals, backpointers, path } = model.results;
  const { x, y } = parts.xy;
  const until = model.revealed;
  const { from: first, to: end } = model.inSight;
  for (const groups of Object.values(parts.columns)) groups.forEach((group, t) => mark(group, "data-out-of-sight", t < first || t >= end));
  for (let t = first; t < end; t++) {
    for (let k = 0; k < K; k++) {
      drawNode(model, parts.nodes[t][k], t, k, path?.[t] === k && t >= until.from);
      mark(parts.nodes[t][k].group, "data-later", t >= until.columns);
      mark(parts.nodes[t][k].note, "data-later", t >= until.columns);
      if (t === 0) continue;
      const edge = parts.edges[t][k];
      const from = backpointers[t * K + k];
      const best = Boolean(path) && path[t] === k && path[t - 1] === from;
      const survivor = model.survivor?.[t] === k;
      const later = t >= until.columns;
      if (!changed(edge, parts.placed, from, best, survivor, later)) continue;
      mark(edge, "data-edge", from >= 0 && `${t},${from},${k}`);
      set(edge, "d", from >= 0 ? curve(x(t - 1), y(from), x(t), y(k)) : "");
      mark(edge, "data-folded", parts.folded.has(k));
      mark(edge, "data-later", later);
      mark(edge, "data-best", best);
      mark(edge, "data-survivor", survivor);
    }
  }
  const row = (id) => model.rows.find((other) => other.id === id)?.tags;
  set(parts.lines.best, "d", along(path?.map((k, t) => (t >= until.from ? k : null)), parts.xy));
  set(parts.lines.ghost, "d", model.ghost?.path ? differing(model.ghost.path, path, parts.xy) : "");
  set(parts.lines.greedy, "d", until.from > 0 ? "" : differing(row(model.contrast), path, parts.xy));
  set(parts.lines.gold, "d", differing(row("gold"), path, parts.xy));
  drawTies(model, parts);
  drawPile(model, parts);
}

function drawNode(model, node, t, k, best) {
  const i = t * model.K + k;
  const marginal = model.results.marginals[i];
  const sampled = model.pile?.drawn ? model.pile.uses[i] / model.pile.drawn : null; // the ring is the samples' where there are some
  const before = sampled ?? (model.ghost && !model.pile ? model.ghost.marginals[i] : marginal);
  const change = marginal - before;
  const selected = model.cell[0] === t && model.cell[1] === k;
  const lit = model.lit?.t === t && model.lit.shares.get(k) >= 0.01;
  if (!changed(node.group, marginal, before, sampled, best, selected, lit, model.pins)) return;
  mark(node.group, "data-lit", lit);
  mark(node.group, "data-pinned", model.pins.some(([at, tag]) => at === t && tag === model.tags[k]));
  set(node.group, "data-marginal", marginal.toFixed(6));
  mark(node.group, "data-best", best);
  set(node.group, "tabindex", selected ? 0 : -1);
  set(node.group, "aria-label", `${model.words[t]}: ${model.tags[k]}, marginal ${marginal.toFixed(4)}`);
  const radius = radiusOf(model.panels.compact ? COMPACT_RADIUS : LARGEST_RADIUS);
  set(node.dot, "r", radius(marginal).toFixed(2));
  mark(node.ring, "hidden", Math.abs(change) < 0.005);
  set(node.ring, "r", radius(before).toFixed(2));
  const noted = marginal >= NOTED || Math.abs(change) >= NOTED;
  const share = sampled === null ? "" : ` | ${probability(sampled)}`;
  const text = noted && share ? probability(marginal) + share : noted ? probability(marginal) + (Math.abs(change) >= 0.005 ? ` (${signed(change)})` : "") : "";
  setText(node.note, text);
  const atTheEdge = share && t === model.T - 1; // two numbers are too wide for the last column
  set(node.note, "text-anchor", atTheEdge ? "end" : "start");
  set(node.note, "x", atTheEdge ? 24 : (radius(Math.max(marginal, before)) * 0.75 + 3).toFixed(1));
  set(node.note, "y", (-radius(marginal) * 0.55 - 3).toFixed(1));
}

// The samples so far: a line for every move that some of them make, as wide as their share; and the newest path.
function drawPile({ pile }, { movesGroup, picture, lines, xy }) {
  mark(picture, "data-pile", Boolean(pile));
  set(lines.newest, "d", pile?.newest ? along(pile.newest, xy) : "");
  const count = pile ? pile.moves.length / 4 : 0;
  while (movesGroup.childElementCount > count) movesGroup.lastChild.remove();
  while (movesGroup.childElementCount < count) movesGroup.append(svg("path", { fill: "none" }));
  for (let i = 0; i < count; i++) {
    const [t, from, to, uses] = pile.moves.subarray(4 * i, 4 * i + 4);
    const path = movesGroup.children[i];
    set(path, "data-move", `${t},${from},${to},${uses}`);
    set(path, "d", curve(xy.x(t), xy.y(from), xy.x(t + 1), xy.y(to)));
    set(path, "stroke-width", (0.8 + 9 * (uses / pile.drawn)).toFixed(2));
  }
}

// Backpointers that tie with the drawn one, as dashed doubles.
function drawTies(model, parts) {
  const { x, y } = parts.xy;
  const ties = (model.ties ?? []).filter(([, , to]) => !parts.folded.has(to));
  while (parts.tiesGroup.childElementCount > ties.length) parts.tiesGroup.lastChild.remove();
  while (parts.tiesGroup.childElementCount < ties.length) parts.tiesGroup.append(svg("path", { class: "tie", fill: "none" }));
  ties.forEach(([t, from, to], i) => {
    const element = parts.tiesGroup.children[i];
    set(element, "data-tie", `${t},${from},${to}`);
    set(element, "d", curve(x(t - 1), y(from), x(t), y(to)));
  });
}

// The area of a node is its marginal.
function radiusOf(largest) {
  return (marginal) => 2 + (largest - 2) * Math.sqrt(marginal);
}

function curve(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

// A path through all words; gaps where a tag is null.
function along(tags, { x, y }) {
  if (!tags) return "";
  const pieces = [];
  for (let t = 1; t < tags.length; t++) {
    if (tags[t] !== null && tags[t - 1] !== null) pieces.push(curve(x(t - 1), y(tags[t - 1]), x(t), y(tags[t])));
  }
  return pieces.join("");
}

// Only the steps of `tags` that the path `reference` does not take.
function differing(tags, reference, { x, y }) {
  if (!tags) return "";
  const pieces = [];
  for (let t = 1; t < tags.length; t++) {
    if (!reference || tags[t] !== reference[t] || tags[t - 1] !== reference[t - 1]) {
      pieces.push(curve(x(t - 1), y(tags[t - 1]), x(t), y(tags[t])));
    }
  }
  return pieces.join("");
}

function grid(T, K, make) {
  return Array.from({ length: T }, (_, t) => Array.from({ length: K }, (_, k) => make(t, k)));
}
