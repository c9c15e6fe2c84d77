// The stage's parts and their positions: built once per shape, then updated at every redraw.

import { languageOf } from "../direction.js";
import {
  all,
  button,
  changed,
  closest,
  flag,
  focusedIn,
  hide,
  html,
  mark,
  present,
  set,
  setProperty,
  setText,
  targetOf,
} from "../dom.js";
import { hasNoKeys, readWithArrows } from "../keyboard.js";
import { FEW_TAGS } from "../model.js";
import { buildGradient, buildMatrix, buildTable } from "../parts/cells.js";
import { makeEditable } from "../parts/editing.js";
import { buildEntity, buildSpans } from "../parts/entity.js";
import { buildGraph, GRAPH } from "../parts/graph.js";
import { buildLattice } from "../parts/lattice.js";
import { buildOverview } from "../parts/overview.js";
import { buildBars, buildControls } from "../parts/panels.js";
import { buildScreenReader } from "../parts/screen_reader.js";
import { buildCovers, buildStepper } from "../parts/stepper.js";
import { buildStrips, drawColumns } from "../parts/strips.js";
import { buildRuler, buildTerms } from "../parts/terms.js";
import { buildTips } from "../parts/tips.js";
import { SAVES } from "../svg_export.js";
import {
  askEmission,
  askEntity,
  askWeight,
  explainWord,
  forget,
  go,
  move,
  pointAtCell,
  pointAtNode,
  readAs,
  setStrength,
  showOnNodes,
  stepInto,
  switchLetters,
  switchPart,
  turnColumns,
  unfold,
} from "./actions.js";
import { cellHooks, view } from "./events.js";
import { identityLine } from "./identity.js";
import { buildInputs } from "./inputs.js";
import { buildScrolling } from "./scrolling.js";
import { legendOf } from "./visibility.js";
import { linesOf, widthIn } from "./widths.js";

/** @import { Model, Part, Side, Stage } from "../types.js" */

const NOTE_MARGINS = 10; // pixels; equal to the style sheet, as are the next ones
const NOTE = { padding: 14, close: 8, sides: 24, line: 19.95, letters: 15.96 };

/** @param {Stage} stage */
export function buildFrame(stage) {
  const { model, root } = stage;
  const { panels } = model;
  const heads = buildHeads(model.words);
  /** @type {Record<string, Part>} */
  const rows = Object.fromEntries(panels.main.map((panel) => [panel, buildRows(panel, stage, heads)]));
  const side = panels.side ? SIDES[panels.side](stage) : [];
  /** @type {Part[]} */
  const stepper = model.walk?.phases.length
    ? [buildStepper({ go: (by) => go(stage, by), show: (nodes) => showOnNodes(stage, nodes) })]
    : [];
  const overview = model.total > model.T ? buildOverview((first) => stage.emit([view("from", `${first}`)])) : null;
  const screenReader = buildScreenReader();
  const covers = buildCovers(
    (part) => switchPart(stage, part),
    Object.entries(SAVES).map(([kind, save]) => ({ name: kind.toUpperCase(), act: () => save(root) })),
    () => switchLetters(stage),
    (direction) => turnColumns(stage, direction),
  );
  const identity = html("div.identity");
  const fold = button("", () => unfold(stage, !stage.model.unfolded), { class: "fold" });
  const heading = html("div.label");
  const note = html("div.note", { role: "status" });
  const legend = html("div.legend");
  const columns = [html("div.row.words", heading, heads), ...elements(Object.values(rows))];
  for (const element of columns) {
    for (const name of ["pointerover", "focusin", "click"]) {
      element.addEventListener(name, (event) => pointAtCell(stage, event));
    }
  }
  const scrolling = buildScrolling(stage, { rows, heads, columns });
  const { scroller, main } = scrolling;
  const below = panels.side === "gradient"; // the note would be below the window
  const noteFirst = below || panels.side === "matrix";
  const beside = side.length
    ? html(below ? "div.side.below" : "div.side", below ? captioned(side) : elements(side))
    : [];
  const body = html("div.body", { "data-side": panels.side ?? "none" });
  body.append(...[panels.side === "matrix" ? [beside, main] : [main, beside]].flat(2));
  const topline = html("div.topline", identity, fold, covers.element);
  const [top, picture] = panels.main.length ? [[topline], [...(overview ? [overview.element] : []), body]] : [[], []];
  root.replaceChildren(
    ...top,
    ...elements(stepper),
    ...(noteFirst ? [note, ...picture] : [...picture, note]),
    legend,
    screenReader.element,
  );
  stage.tip ??= buildTips(root, () => stage.model);
  root.append(stage.tip.element);
  listen(stage, root);
  const parts = [...Object.values(rows), ...side, ...stepper, ...(overview ? [overview] : [])];
  const texts = html("div.texts");
  // Note and legend are beside matrices below the words if they leave space, else above and below the picture.
  /** @param {Model} next */
  const placeNote = (next) => {
    if (!note.isConnected || next.sizes.flags.noteBeside === texts.isConnected) return;
    if (texts.isConnected) {
      texts.remove();
      picture[0].before(note);
      screenReader.element.before(legend);
    } else if (beside instanceof HTMLElement) {
      texts.append(note, legend);
      beside.append(texts);
    }
  };
  return {
    // The texts around the picture.
    /** @param {Model} next */
    write(next) {
      const folded = next.K - next.shown.size;
      const problem = panels.side === "matrix" ? null : next.message; // otherwise it is shown under the matrix
      setText(note, next.live ? "…" : next.note);
      const kept = next.live ? `${stage.noteHeight - NOTE_MARGINS}px` : "auto"; // so that nothing moves during a drag
      setProperty(note, "min-height", kept);
      present(note, Boolean(next.note) && next.sees("note"));
      setText(identity, next.title ?? identityLine(next));
      const impossible = next.results.logPartition === -Infinity; // shown before any step
      present(identity, next.title !== null || next.sees("score") || (impossible && !next.covered.has("score")));
      if (next.heading.length) drawColumns(heading, next.heading);
      hide(fold, (folded === 0 && !(next.unfolded && next.K > FEW_TAGS)) || panels.main.length === 0);
      setText(fold, next.unfolded ? "Hide unlikely tags" : `${folded} unlikely tags hidden · Show`);
      setText(legend, problem ?? legendOf(next, !hasNoKeys()));
      flag(legend, { problem: Boolean(problem) });
      flag(body, { tall: next.heading.length > 0 });
    },
    /** @param {Model} next */
    update(next) {
      placeNote(next);
      for (const part of parts) part.update(next);
      if (changed(body, Boolean(next.ruler))) keepFocusInSight(root); // a ruler takes space from the matrix
      covers.update(next);
      screenReader.update(next);
      const asked = next.asked && !next.asks ? next.asked[0] : null; // a link asked for this word
      heads.forEach((head, t) => flag(head, { asked: t === asked }));
      stage.tip.update();
      set(scroller, "dir", next.rtl ? "rtl" : "ltr");
      const { lengths } = next.sizes;
      if (changed(main, stage.width, lengths.all, lengths.label, lengths.beside, next.rtl)) scrolling.fade();
    },
    overview,
    ...scrolling,
    // In pixels, at least one line, also before the text arrives.
    noteHeight() {
      if (note.isConnected) return note.offsetHeight + NOTE_MARGINS;
      if (!note.textContent || stage.model.covered.has("note")) return 0;
      const unit = stage.sizes?.unit ?? 1;
      const widthOf = widthIn(`${NOTE.letters * unit}px ${getComputedStyle(root).fontFamily}`);
      const lines = linesOf(note.textContent, widthOf, root.clientWidth - NOTE.sides);
      const padding = root.hasAttribute("data-close") ? NOTE.close : NOTE.padding;
      return NOTE_MARGINS + Math.round(padding + unit * NOTE.line * lines);
    },
    /** @param {number} t @param {number} k */
    focusNode(t, k) {
      scrolling.showInSight(); // a key may precede the event of the last scrolling
      rows.lattice?.focus?.(t, k);
    },
  };
}

/** @param {string[]} words */
function buildHeads(words) {
  const language = languageOf(words);
  return words.map((word, t) => {
    const head = html("div.word", { dir: "auto", title: word, tabindex: -1, "data-t": t }, html("span", word));
    mark(head, "lang", language);
    return head;
  });
}

/** @param {string} panel @param {Stage} stage @param {HTMLElement[]} heads */
function buildRows(panel, stage, heads) {
  const { model } = stage;
  if (panel === "strips") return buildStrips(model);
  if (panel === "lattice") return buildLattice(model, (t, k, kind) => pointAtNode(stage, t, k, kind));
  if (panel in GRAPH) return buildGraph(model, panel);
  if (panel === "spans") return buildSpans(model, heads, (span) => askEntity(stage, span));
  return buildTable(model, panel);
}

// The panels beside or under the words, by their name in the payload.
/** @type {Record<Side, (stage: Stage) => Part[]>} */
const SIDES = {
  /** @param {Stage} stage */
  cell: (stage) => [
    buildInputs(
      stage.model,
      (how) => readAs(stage, how),
      (words, rows) => move(stage, words, rows),
    ),
  ],
  /** @param {Stage} stage */
  terms: (stage) => [buildTerms(stage.model, stage.payload.asks ? (t) => askEmission(stage, t) : null)],
  /** @param {Stage} stage */
  entity: (stage) => [buildEntity(stage.model, (span) => askEntity(stage, span))],
  /** @param {Stage} stage */
  bars: ({ model }) => [buildBars(model)],
  /** @param {Stage} stage */
  gradient: (stage) => [matrixOf(stage), named("gradient", buildGradient(stage.model))],
  /** @param {Stage} stage */
  matrix: (stage) => [
    named("weights", matrixOf(stage)),
    buildRuler(),
    ...(stage.payload.guest?.fixed ? [] : [controlsOf(stage)]),
  ],
};

// A panel that walks can reveal.
/** @param {string} name @param {Part} panel */
function named(name, panel) {
  const content = html("div", panel.element);
  return {
    element: content,
    /** @param {Model} next */
    update(next) {
      present(panel.element, next.sees(name));
      panel.update(next);
    },
  };
}

/** @param {Stage} stage */
function matrixOf(stage) {
  return buildMatrix(stage.model, (by) => stepInto(stage, stage.model.into + by));
}

/** @param {Stage} stage */
function controlsOf(stage) {
  return buildControls({
    strength: (value, done, clear) => setStrength(stage, value, done, clear),
    preset: (kind) => stage.emit([{ kind }]),
    constrained: () => stage.emit([{ kind: "constrained", value: !stage.payload.constrained }]),
  });
}

/** @param {Part[]} parts */
function captioned([matrix, gradient]) {
  const weights = "weights (nats)";
  const counts = "observed − expected counts: the gradient of log p(gold tags)";
  return [
    html("section", html("div.caption", weights), matrix.element),
    html("section", html("div.caption", counts), gradient.element),
  ];
}

// The editable and the read-only numbers, with their keys and pointer events.
/** @param {Stage} stage @param {HTMLElement} root */
function listen(stage, root) {
  const fixed = Boolean(stage.payload.guest?.fixed);
  for (const matrix of all(root, ".matrix")) {
    if (fixed) readWithArrows(matrix, "[data-cell]");
    else makeEditable(matrix, "[data-cell]", cellHooks(stage));
    matrix.addEventListener("focusin", (event) => askWeight(stage, targetOf(event)));
    // Without this, the request for a question would overtake a click on a link.
    matrix.addEventListener("focusout", () => forget(stage, "weight"));
  }
  for (const table of all(root, ".heat")) {
    if (!fixed && table.querySelector("[data-table=emissions]")) makeEditable(table, "[data-table]", cellHooks(stage));
    else readWithArrows(table, "[data-table]");
  }
  for (const words of all(root, ".scroller")) readWithArrows(words, ".word, .tag");
  for (const words of all(root, ".words"))
    words.addEventListener("click", (event) => explainWord(stage, closest(event, ".word")));
  for (const bars of all(root, ".terms")) readWithArrows(bars, ".term-bar");
  for (const bars of all(root, ".bars")) readWithArrows(bars, ".bar-number");
  for (const rows of all(root, ".entity-rows")) readWithArrows(rows, ".entity-row");
  for (const matrix of all(root, ".below .matrix")) readWithArrows(matrix, "[data-weight]");
}

// Scrolls a matrix to the focused cell.
/** @param {HTMLElement} root */
function keepFocusInSight(root) {
  const focused = focusedIn(root);
  if (focused?.matches("[data-framed] [data-cell]")) focused.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** @param {Part[]} parts */
function elements(parts) {
  return parts.map((part) => part.element);
}
