// A window of a long sentence: the words that are drawn. Everything is computed for the sentence and cut here.

/** @import { Chain, Decoded, Path, Place, Solution } from "./types.js" */

// The scores of the words in sight; start and end stay the sentence's.
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

// The tables and paths of the words in sight.
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

// What a host that has all numbers gives the stage for the words in sight: `payload`, decoded, is that of all words.
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
      const [t, k] = cell.split(",").map(Number);
      return /** @type {[string, number]} */ ([`${t - offset},${k}`, value]);
    }),
  );
}
