// A live file's data for another sentence: crfviz/views/exports/live.py makes the first. The pages stay; everything
// that depends on the words and their scores is recomputed.

import { solve, transition } from "../../stage/web/recursions.js";

const NONE = { transitions: [], emissions: [], strength: 1 };

// `chain` has the scores of `words`, with the rules of the tagger if it is `constrained`; `gold` are T tag ids or null,
// `sentence` is what was typed.
export function rebindSentence(data, { words, chain, sentence, gold = null, constrained = true }) {
  const solved = solve(chain);
  const params = { ...data.origin.params, sentence, c: constrained ? "" : "0" };
  const origin = data.origin.address ? { ...data.origin, params } : data.origin;
  return {
    ...data,
    ...{ words, chain, solved, origin, trained: null, edits: NONE, pins: [], step: null },
    margin: data.probabilistic ? null : leadOf(chain, solved),
    pages: data.pages.map((page) => (page.picture ? rebindPage(page, chain, solved, gold) : page)),
  };
}

function rebindPage(page, chain, solved, gold) {
  const editedRows = solved.rows.viterbi && page.editedRows; // only with a path to compare with
  return {
    ...page,
    rows: withGold(page, page.rows, gold),
    editedRows: editedRows && withGold(page, editedRows, gold),
    picture: { ...page.picture, tables: page.picture.tables.map((table) => scaled(table, chain, solved)) },
  };
}

function withGold({ gold: place }, rows, gold) {
  const others = rows.filter(({ id }) => id !== "gold");
  return place && gold ? [...others, { ...place, tags: gold }] : others;
}

// Nats between the best path and the second best; null if there is only one path.
function leadOf(chain, { best, score, rows }) {
  const { T, K, emissions, end } = chain;
  let after = end; // best score of a suffix after each tag
  let second = -Infinity;
  for (let t = T - 1; rows.viterbi && t >= 0; t--) {
    for (let k = 0; k < K; k++) {
      if (k !== rows.viterbi[t]) second = Math.max(second, best[t * K + k] + after[k]);
    }
    const [here, next] = [t, after];
    const step = (from, to) => transition(chain, here, from, to) + emissions[here * K + to] + next[to];
    const tags = Array.from({ length: K }, (_, k) => k);
    if (t > 0) after = Float64Array.from(tags, (from) => Math.max(...tags.map((to) => step(from, to))));
  }
  return second === -Infinity ? null : Math.max(0, score - second);
}

// The value at full colour.
function scaled(table, chain, solved) {
  const { name, kind } = table;
  if (kind === "probability") return table;
  if (name !== "emissions") return { ...table, scale: largest(solved[name], 1) };
  if (kind === "exponent") return { ...table, scale: largest(chain.emissions.map(Math.exp), 0) };
  const { T, K } = chain;
  const winners = Array.from({ length: T }, (_, t) => Math.max(...chain.emissions.subarray(t * K, (t + 1) * K)));
  return { ...table, scale: largest(winners, 1) };
}

// The largest finite size, at least `least`; 1 without any.
function largest(values, least) {
  const sizes = [...values].filter(Number.isFinite).map(Math.abs);
  return sizes.length ? Math.max(least, ...sizes) || 1 : 1;
}
