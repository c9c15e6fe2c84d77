// The rows of the words, and the panels beside or below them, by their names in the payload.

import { html, present } from "../dom.js";
import { buildGradient, buildMatrix, buildTable } from "../parts/cells.js";
import { buildEntity, buildSpans } from "../parts/entity.js";
import { buildGraph, GRAPH } from "../parts/graph.js";
import { buildLattice } from "../parts/lattice.js";
import { buildBars, buildControls } from "../parts/panels.js";
import { buildStrips } from "../parts/strips.js";
import { buildRuler, buildTerms } from "../parts/terms.js";
import { askEmission, askEntity, move, pointAtNode, readAs, setStrength, stepInto } from "./actions.js";
import { buildInputs } from "./inputs.js";

/** @import { Model, Part, Side, Stage } from "../types.js" */

/** @param {string} panel @param {Stage} stage @param {HTMLElement[]} heads */
export function buildRow(panel, stage, heads) {
  const { model } = stage;
  if (panel === "strips") return buildStrips(model);
  if (panel === "lattice") return buildLattice(model, (t, k, kind) => pointAtNode(stage, t, k, kind));
  if (panel in GRAPH) return buildGraph(model, panel);
  if (panel === "spans") return buildSpans(model, heads, (span) => askEntity(stage, span));
  return buildTable(model, panel);
}

/** @type {Record<Side, (stage: Stage) => Part[]>} */
export const SIDES = {
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
