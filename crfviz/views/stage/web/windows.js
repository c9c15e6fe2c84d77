// Windows of long sentences. Numbers are computed for the whole sentence; here they are cut to the drawn words.

import { numbersOf } from "./numbers.js";

/** @import { Chain, Decoded, Path, Place, Solution } from "./types.js" */

// Cuts the scores to the words in sight; start and end scores stay those of the sentence.
/** @param {Chain} chain @param {Place} place @returns {Chain} */
export function chainIn(chain, { offset, T }) {
  const { K, emissions, transitions } = chain;
  const steps = transitions.length > K * K;
  return {
    ...chain,
    T,
    emissions: emissions.subarray(offset * K, (offset + T) * K),
    transitions: steps ? transitions.subarray(offset * K * K, (offset + T - 1) * K * K) : transitions,
  };
}

// Cuts the tables and paths to the words in sight.
/** @param {Solution} solved @param {Place & { K: number }} place @returns {Solution} */
export function solutionIn(solved, { offset, T, K }) {
  const { alpha, beta, marginals, best, backpointers, rows } = solved;
  /** @template {Float64Array | Int16Array} Numbers @param {Numbers} table */
  const cut = (table) => /** @type {Numbers} */ (table.subarray(offset * K, (offset + T) * K));
  /** @param {[string, Path]} row @returns {[string, Path]} */
  const named = ([name, path]) => [name, path?.slice(offset, offset + T) ?? null];
  return {
    ...solved,
    alpha: cut(alpha),
    beta: cut(beta),
    marginals: cut(marginals),
    best: cut(best),
    backpointers: cut(backpointers),
    rows: Object.fromEntries(Object.entries(rows).map(named)),
  };
}

// Cuts a decoded payload of all words to the words in sight, for hosts that have all numbers.
/** @param {Decoded} payload @param {Place} place @returns {Decoded} */
export function windowed(payload, { offset, T }) {
  const { K, base, edits, pins, words, rows, tables, results, ghost, chosen } = payload;
  /** @template List @param {List} list @returns {List} */
  const part = (list) => (Array.isArray(list) ? /** @type {List} */ (list.slice(offset, offset + T)) : list);
  /** @template Numbers @param {Numbers} table @returns {Numbers} */
  const cut = (table) =>
    ArrayBuffer.isView(table) ? /** @type {any} */ (table).subarray(offset * K, (offset + T) * K) : table;
  /** @template {object} Named @param {Named} all @returns {Named} */
  const parts = (all) => Object.assign({}, ...Object.entries(all).map(([name, of]) => ({ [name]: part(cut(of)) })));
  return {
    ...payload,
    T,
    offset,
    total: payload.T,
    words: part(words),
    trained: chainIn(base, { offset, T }),
    edits: { ...edits, emissions: shifted(edits.emissions, offset) },
    pins: pins.map(([t, tag]) => [t - offset, tag]),
    results: parts(results),
    ghost: ghost && parts(ghost),
    rows: rows.map(parts),
    tables: tables.map(parts),
    chosen: chosen && [chosen[0] - offset, chosen[1]],
  };
}

/** @param {Map<string, number>} cells @param {number} offset */
function shifted(cells, offset) {
  return new Map(
    Array.from(cells, ([cell, value]) => {
      const [t, k] = numbersOf(cell);
      return /** @type {[string, number]} */ ([`${t - offset},${k}`, value]);
    }),
  );
}
