// The graph of the chain, in the columns of the words. As a factor graph: a circle for the tag of each word, a square
// for its emission, a square between two tags for their transition, START before the first and END after the last. The
// edges show the messages of the walk so far: α forward and β backward. As a directed graph: each tag generates the
// next tag, and its word.

import { charactersOf, fit, flag, html, present, set, setAll, setText, svg } from "../dom.js";
import { cellText } from "./cells.js";
import { middlesOf } from "./lattice_paths.js";

/** @import { Model } from "../types.js" */

/** @type {Record<string, number>} */
export const GRAPH = { graph: 142, directed: 104 }; // heights at the smallest text size
const [RADIUS, HALF] = [15, 7]; // of a circle and a square
/** @type {Record<string, string>} */
const MESSAGES = { alpha: "α →", beta: "← β" };
/** @type {Record<string, string>} */
const TURNED = { alpha: "← α", beta: "β →" }; // from right to left
const MAX_NUMBERS = 2; // numbers shown per message
const LINE = 15;

/** @param {Model} model @param {string} name */
export function buildGraph(model, name) {
  const directed = name === "directed";
  const { words } = model;
  const [edges, nodes, notes] = ["edges", "nodes", "notes"].map((kind) => svg(`g.graph-${kind}`));
  const label = directed ? "Directed graph of the HMM" : "Factor graph";
  const arrow = svg("path", { d: "M0 0 8 4 0 8z" });
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, orient: "auto" }, arrow);
  const picture = svg(
    "svg.graph-picture",
    { role: "img", "aria-label": label },
    svg("defs", marker),
    edges,
    nodes,
    notes,
  );
  const element = html("div.lattice", html("div.label", directed ? "directed" : "factors"), picture);
  const messages = directed ? [] : words.flatMap((_, t) => Object.keys(MESSAGES).map((kind) => buildMessage(kind, t)));
  notes.append(...messages.map(({ text }) => text));
  return {
    element,
    /** @param {Model} next */
    update(next) {
      const { lefts, unit } = next.sizes;
      const [width, height] = [lefts[next.T], GRAPH[name] * unit];
      const y = directed ? 26 * unit : 64 * unit;
      /** @type {Place} */
      const place = {
        unit,
        way: next.rtl ? -1 : 1,
        x: middlesOf(next),
        edge: (t) => (next.rtl ? width - lefts[t] : lefts[t]),
        y,
        below: y + (directed ? 54 : 58) * unit,
      };
      setAll(picture, { width, height, viewBox: `0 0 ${width} ${height}` });
      draw(edges, edgesOf(next, place, directed), (path, { d }) => set(path, "d", d), "path.graph-edge");
      for (const path of directed ? edges.children : []) set(path, "marker-end", "url(#arrow)");
      draw(nodes, directed ? directedNodes(next, place) : factorNodes(next, place), drawNode, "g");
      for (const message of messages) drawMessage(next, message, place);
    },
  };
}

/**
 * @typedef {object} Place
 * @property {number} unit
 * @property {number} way 1, or -1 from right to left
 * @property {(t: number) => number} x the middle of a column
 * @property {(t: number) => number} edge where it begins in the reading direction
 * @property {number} y
 * @property {number} below
 */
/**
 * @typedef {object} GraphNode
 * @property {string} kind
 * @property {string | number} name
 * @property {number[]} at
 * @property {number} unit
 * @property {number} way
 * @property {string} text
 * @property {string} [title]
 */

// Fits the number of elements of a kind, and draws each.
/**
 * @template Thing
 * @param {Element} parent
 * @param {Thing[]} things
 * @param {(element: SVGElement, thing: Thing) => void} write
 * @param {string} kind
 */
function draw(parent, things, write, kind) {
  fit(parent, things.length, () => svg(kind)).forEach((element, i) => write(element, things[i]));
}

/** @param {Model} model @param {Place} place @param {boolean} directed */
function edgesOf({ T }, { x, y, below, unit, edge, way }, directed) {
  const gap = directed ? RADIUS * unit : 0;
  /** @param {number} from @param {number} to */
  const across = (from, to) => ({ d: `M${from + way * gap} ${y}H${to - way * gap}` });
  /** @param {number} t */
  const down = (t) => ({ d: `M${x(t)} ${y + gap}V${below - gap}` });
  const every = Array.from({ length: T }, (_, t) => t);
  const steps = every.slice(1).map((t) => across(x(t - 1), x(t)));
  const ends = directed ? [] : [across(edge(0) + way * HALF * unit, x(0)), across(x(T - 1), edge(T))];
  return [...steps, ...ends, ...every.map(down)];
}

/** @param {Model} model @param {Place} place */
function factorNodes({ T, words, tables, offset, total }, { x, y, below, unit, edge, way }) {
  const border = way * (HALF + 1) * unit;
  const [first, last] = [offset ? "…" : "START", offset + T < total ? "…" : "END"]; // a window has neither
  const squares = Array.from({ length: T + 1 }, (_, t) => {
    const at = edge(t) + (t === 0 ? border : t === T ? -border : 0);
    const name = t === 0 ? first : t === T ? last : `${t - 1},${t}`;
    const title = t === 0 || t === T ? name : `step from “${words[t - 1]}” to “${words[t]}”`;
    // otherwise a message names it
    const named = t === 0 || (t === T && !tables.some((table) => table.name in MESSAGES));
    return { kind: "factor", name, at: [at, y], unit, way, text: named ? name : "", title };
  });
  const tags = words.map((_, t) => variable(t, { x, y, unit, way }, offset));
  const factors = words.map((word, t) => {
    return { kind: "factor", name: `word ${t}`, at: [x(t), below], unit, way, text: "", title: `what “${word}” says` };
  });
  return [...squares, ...tags, ...factors];
}

// The circle for the tag of word t.
/** @param {number} t @param {Pick<Place, "x" | "y" | "unit" | "way">} place @param {number} offset */
function variable(t, { x, y, unit, way }, offset) {
  return { kind: "variable", name: t, at: [x(t), y], unit, way, text: `y${offset + t + 1}` };
}

/** @param {Model} model @param {Place} place */
function directedNodes({ words, offset }, { x, y, below, unit, way }) {
  const tags = words.map((_, t) => variable(t, { x, y, unit, way }, offset));
  const seen = words.map((word, t) => {
    return { kind: "seen", name: t, at: [x(t), below], unit, way, text: firstCharacters(word) };
  });
  return [...tags, ...seen];
}

/** @param {SVGElement} group @param {GraphNode} node */
function drawNode(group, { kind, name, at: [x, y], unit, way, text, title }) {
  const round = kind !== "factor";
  if (group.dataset.kind !== kind) {
    const shape = round ? svg("circle") : svg("rect");
    group.replaceChildren(svg("title"), shape, svg("text"));
  }
  flag(group, { kind, [kind]: String(name) });
  const [about, shape, label] = group.children;
  setText(about, title ?? text);
  const size = (round ? RADIUS : HALF) * unit;
  setAll(shape, round ? { cx: x, cy: y, r: size } : { x: x - size, y: y - size, width: 2 * size, height: 2 * size });
  const outwards = (name === "START" ? -1 : 1) * way; // the side on which a border node has no space
  set(label, "text-anchor", round ? "middle" : outwards < 0 ? "start" : "end");
  set(label, "x", round ? x : x + outwards * size);
  set(label, "y", round ? y + 5 * unit : y - 3 * size);
  setText(label, text);
}

/** @param {string} kind @param {number} t */
function buildMessage(kind, t) {
  const lines = Array.from({ length: 1 + MAX_NUMBERS }, () => svg("tspan"));
  return { kind, t, lines, text: svg("text.graph-message", { "data-message": `${kind},${t}` }, lines) };
}

// The largest numbers of the message on the edge after word t.
/** @param {Model} model @param {ReturnType<typeof buildMessage>} message @param {Place} place */
function drawMessage(model, { kind, t, lines, text }, { y, edge, unit, way }) {
  const { tables, tags, K, T, steps } = model;
  const table = tables.find(({ name }) => name === kind);
  const values = table ? Array.from(table.values.subarray(t * K, (t + 1) * K)) : [];
  const ranked = values.map((value, k) => ({ value, k })).filter(({ value }) => !Number.isNaN(value));
  ranked.sort((a, b) => b.value - a.value);
  present(text, ranked.length > 0 && model.sees(kind, t));
  const last = t === T - 1;
  set(text, "text-anchor", last ? (way < 0 ? "start" : "end") : "middle");
  flag(text, { now: steps?.column === t && model.nodes === kind });
  const top = kind === "alpha" ? y - (HALF + 6) * unit - MAX_NUMBERS * LINE * unit : y + (HALF + 16) * unit;
  lines.forEach((line, i) => {
    const entry = ranked[i - 1];
    set(line, "x", edge(t + 1) - (last ? 2 * way : 0));
    set(line, "y", top + i * LINE * unit);
    setText(
      line,
      i === 0
        ? `${(way < 0 ? TURNED : MESSAGES)[kind]}${last && kind === "alpha" ? " END" : ""}`
        : entry && table
          ? `${tags[entry.k]} ${cellText(table, entry.value)}`
          : "",
    );
  });
}

// The beginning of a word that fits into a circle.
/** @param {string} word */
function firstCharacters(word) {
  return charactersOf(word).slice(0, 2).join("");
}
