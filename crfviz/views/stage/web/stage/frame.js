// The stage's parts and their positions: built once per shape, then updated at every redraw.

import { languageOf } from "../direction.js";
import { all, changed, closest, flag, focusedIn, html, mark, set, targetOf } from "../dom.js";
import { readWithArrows } from "../keyboard.js";
import { makeEditable } from "../parts/editing.js";
import { buildOverview } from "../parts/overview.js";
import { buildScreenReader } from "../parts/screen_reader.js";
import { buildCovers, buildStepper } from "../parts/stepper.js";
import { buildTips } from "../parts/tips.js";
import { SAVES } from "../svg_export.js";
import {
  askWeight,
  explainWord,
  forget,
  go,
  pointAtCell,
  showOnNodes,
  switchLetters,
  switchPart,
  turnColumns,
} from "./actions.js";
import { cellHooks, view } from "./events.js";
import { buildScrolling } from "./scrolling.js";
import { buildRow, SIDES } from "./sides.js";
import { buildTexts } from "./texts.js";

/** @import { Model, Part, Stage } from "../types.js" */

/** @param {Stage} stage */
export function buildFrame(stage) {
  const { model, root } = stage;
  const { panels } = model;
  const heads = buildHeads(model.words);
  /** @type {Record<string, Part>} */
  const rows = Object.fromEntries(panels.main.map((panel) => [panel, buildRow(panel, stage, heads)]));
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
  const texts = buildTexts(stage);
  const { note, legend } = texts;
  const columns = [html("div.row.words", texts.heading, heads), ...elements(Object.values(rows))];
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
  const topline = html("div.topline", texts.identity, texts.fold, covers.element);
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
  const placeTexts = beside instanceof HTMLElement ? placing(texts, beside, [picture[0], screenReader.element]) : null;
  return {
    /** @param {Model} next */
    write(next) {
      texts.write(next);
      flag(body, { tall: next.heading.length > 0 });
    },
    /** @param {Model} next */
    update(next) {
      placeTexts?.(next);
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
    noteHeight: texts.noteHeight,
    ...scrolling,
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

// Returns a function that puts note and legend into the panel below the words if its matrices leave space, else above
// and below the picture, before `ends`.
/** @param {ReturnType<typeof buildTexts>} texts @param {HTMLElement} panel @param {Element[]} ends */
function placing({ note, legend }, panel, ends) {
  const beside = html("div.texts");
  /** @param {Model} next */
  return (next) => {
    if (!note.isConnected || next.sizes.flags.noteBeside === beside.isConnected) return;
    if (next.sizes.flags.noteBeside) {
      beside.append(note, legend);
      panel.append(beside);
    } else {
      beside.remove();
      ends[0].before(note);
      ends[1].before(legend);
    }
  };
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
