// What is pointed at, where a walk stands, and what both of them light up. Pure functions of a model and of what the
// reader chose: { cell: [word, tag] or null, survivor: the same, reading: { kind, temperature }, step }.

import { litOf, tiesOf } from "./inputs.js";
import { stepText } from "./texts.js";

export function selection(model, { cell, survivor, reading, step }) {
  const { T, K, panels, results } = model;
  const path = results.path ?? model.rows[0]?.tags ?? [];
  const second = Math.min(1, T - 1);
  const found = {
    revealed: { columns: T, from: 0 }, // columns computed so far; the path is known from that word on
    cell: cell && cell[0] < T && cell[1] < K ? cell : [second, path[second] ?? 0],
    survivor: survivor && survivorOf(model, ...survivor),
    reading,
    ...(panels.stepper && walk(model, step, cell)),
  };
  return { ...found, lit: panels.side === "cell" ? litOf(model, reading, ...found.cell) : null };
}

// The tag that word t has, or the best one by itself.
export function tagAt({ results, K }, t) {
  if (results.path) return results.path[t];
  const table = results.best ?? results.marginals;
  let best = 0;
  for (let k = 1; k < K; k++) if (table[t * K + k] > table[t * K + best]) best = k;
  return best;
}

// The step of Viterbi at which the walk stands: forward over the columns, then back along the backpointers.
function walk(model, step, cell) {
  const { T } = model;
  const of = 2 * T;
  const at = step > 0 && step < of ? step : of;
  const column = at === of ? (cell?.[0] ?? T - 1) : at <= T ? at - 1 : of - at;
  return {
    cell: cell?.[0] === column ? cell : [column, tagAt(model, column)],
    stepping: { at, of, text: stepText(model, at) },
    revealed: { columns: Math.min(at, T), from: at <= T ? T : of - at },
    ties: tiesOf(model),
  };
}

// The tags on the best prefix that ends in (t, k).
function survivorOf({ results, K }, t, k) {
  const tags = [k];
  for (let i = t; i > 0; i--) tags.unshift(results.backpointers[i * K + tags[0]]);
  return tags.includes(-1) ? null : tags;
}
