// What is pointed at, where a walk stands, and what both of them light up. Pure functions of a model and of what the
// reader chose: { cell: [word, tag] or null, survivor: the same, reading: { kind, temperature }, step, nodes }.

import { litOf, tiesOf } from "./inputs.js";
import { sightOf } from "./steps.js";

/** @import { Cell, Chosen, Composed, Selection, Sight } from "../types.js" */

const SWEPT = ["nodes", "alpha", "beta", "marginals"]; // what a cell is a part of

/** @param {Composed} model @param {Chosen} chosen @returns {Selection} */
export function selection(model, chosen) {
  const { T, K, panels } = model;
  const sight = sightOf(model, chosen);
  const { steps, sees, open, nodes } = sight;
  const walking = steps !== null && steps.at < steps.of;
  /** @param {number} t */
  const seen = (t) => !walking || SWEPT.some((part) => sees(part, t));
  const { cell, survivor } = chosen;
  const given = cell && cell[0] < T && cell[1] < K && seen(cell[0]) ? cell : null;
  const here = given ?? (walking ? null : model.asked) ?? firstCell(model, sight, walking);
  const summed = steps?.column === null && sees("z"); // one sum of the whole last column
  const reading = walking ? { kind: summed ? "z" : nodes, temperature: 1 } : chosen.reading;
  return {
    ...sight,
    walking,
    cell: here,
    survivor: survivor && open("cell") && seen(survivor[0]) ? survivorOf(model, survivor[0], survivor[1]) : null,
    reading,
    ties: panels.side === "cell" && sees("pointers") ? tiesOf(model).filter(([t]) => sees("pointers", t)) : [],
    lit: panels.side === "cell" && open("cell") && seen(here[0]) ? litOf(model, reading, here[0], here[1]) : null,
  };
}

// The tag that word t has, or the best one by itself.
/** @param {Pick<Composed, "results" | "K">} model @param {number} t */
export function tagAt({ results, K }, t) {
  if (results.path) return results.path[t];
  return largestAt(results.best ?? results.marginals, K, t);
}

// Where nobody points: at the word that the walk has come to, at the best path once it is there, else at a tag that
// gives nothing away.
/** @param {Composed} model @param {Sight} sight @param {boolean} walking @returns {Cell} */
function firstCell(model, { steps, sees }, walking) {
  const { T, K, results } = model;
  if (walking) {
    const t = steps?.column ?? 0;
    return [t, sees("path", t) ? tagAt(model, t) : largestAt(results.best ?? results.marginals, K, t)];
  }
  const t = steps?.column ?? Math.min(1, T - 1);
  return [t, (results.path ?? model.rows[0]?.tags ?? [])[t] ?? 0];
}

/** @param {Float64Array} table @param {number} K @param {number} t */
function largestAt(table, K, t) {
  let best = 0;
  for (let k = 1; k < K; k++) if (table[t * K + k] > table[t * K + best]) best = k;
  return best;
}

// The tags on the best prefix that ends in (t, k).
/** @param {Composed} model @param {number} t @param {number} k */
function survivorOf({ results, K }, t, k) {
  const tags = [k];
  for (let i = t; i > 0; i--) tags.unshift(results.backpointers[i * K + tags[0]]);
  return tags.includes(-1) ? null : tags;
}
