// The model of the stage: the decoded payload with the user's newest edits applied.

import { numbersOf, score } from "./numbers.js";
import { rowwiseArgmax, solve, transition, viterbi } from "./recursions.js";
import { chainIn, solutionIn } from "./windows.js";

/** @import {
 *   Chain, Composed, Counts, Decoded, EditList, Edits, Floats, Numbers, Payload, PieceData, Results, Row, RulerData,
 *   Scores, Solution, Split, StepMatrices, Table, TrainedResults
 * } from "./types.js" */

export const START = "START"; // the name of the start scores' row, on the screen and in messages
export const END = "END";
const MASS = 0.01; // a tag below this marginal at every word, and on no drawn row, is folded
export const FEW_TAGS = 9; // up to this number, tags are never folded
const MAX_LISTED = 5; // edits
export const MAX_BY_HAND = 30; // maximum number of matrix edits that unfold their tags

const TABLES = ["marginals", "alpha", "beta", "best"];
const AGREE = 1e-9; // relative tolerance of log Z within which all tables agree

// Decodes the payload of crfviz/views/stage/payload.py: its tables become typed arrays. Tables that it lacks are
// computed here; `disagrees` means that the result differs from Python's.
/** @param {Payload} data @returns {Decoded} */
export function decode(data) {
  const [T, K] = [data.words.length, data.tags.length];
  const { edits, results, ruler, pile, gradient } = data;
  const { offset = 0, total = T } = data;
  const base = /** @type {Chain} */ (data.trained && chainOf(data.trained, total, K));
  const place = { offset, total, T, K };
  const known = {
    ...data,
    ...place,
    base,
    trained: base && chainIn(base, place),
    edits: editsOf(edits, data, offset),
    pins: data.pins.map(([t, tag]) => /** @type {[number, string]} */ ([t - offset, tag])),
  };
  const edited = /** @type {Chain} */ (base && applyEdits(known, known.edits));
  const solved = base && (total > T || !results.marginals) ? solve(edited) : null;
  const own = results.marginals || !solved ? null : solutionIn(solved, place);
  const decoded = {
    ...known,
    edited,
    perStep: Boolean(data.trained?.steps),
    solved: total > T ? solved : null,
    disagrees: own !== null && !agree(own, results),
    results: {
      ...own,
      ...results,
      ...tablesOf(results),
      logPartition: results.log_partition ?? -Infinity,
      score: results.score ?? -Infinity,
      ...(results.backpointers && { backpointers: integers(results.backpointers) }),
    },
    overview: data.overview && { ...data.overview, marginals: floats(data.overview.marginals) },
    ghost: data.ghost && { ...data.ghost, ...ghostTables(data.ghost, known) },
    ruler: ruler && rulerOf(ruler, data),
    pile: pile && { ...pile, uses: integers(pile.uses), moves: integers(pile.moves) },
    gradient: gradient && {
      observed: counts(gradient.observed, floats),
      difference: counts(gradient.difference, floats),
    },
    tables: data.tables.map((table) => ({ ...table, ...tablesOf(table, ["values", "trained"]) })),
  };
  return /** @type {Decoded} */ (/** @type {unknown} */ (decoded)); // no panel reads a table that was not sent
}

// Returns whether the result computed here equals Python's.
/** @param {Solution} own @param {Results} answer */
function agree({ logPartition, rows }, answer) {
  const sum = answer.log_partition ?? -Infinity;
  const near = sum === logPartition || Math.abs(sum - logPartition) <= AGREE * Math.max(1, Math.abs(sum));
  return near && String(rows.viterbi) === String(answer.path);
}

// The edits of a payload by cell; positions are relative to the word at `offset`.
/** @param {EditList} edits @param {Split} payload @param {number} [offset] */
export function editsOf({ transitions, emissions, strength }, payload, offset = 0) {
  /** @param {string[]} cells @param {number | null} value @returns {[string, number][]} */
  const all = (cells, value) => cells.map((cell) => [cell, value ?? -Infinity]);
  return {
    transitions: new Map(transitions.flatMap(([from, to, value]) => all(movesOf(payload, from, to), value))),
    emissions: new Map(emissions.flatMap(([t, tag, value]) => all(placesOf(payload, t - offset, tag), value))),
    strength,
  };
}

// The original tags of a payload: its own tags, unless a rule has split them into copies.
/** @param {Split} payload */
export function tagsOf({ tags, copies }) {
  return copies?.of ?? tags;
}

// The cells of one transition: from all copies to all copies that may follow under the rule. A cell is "from,to" in
// ids, where START is -1 and END is K: a tag's name may contain anything.
/** @param {Split} payload @param {string} from @param {string} to */
export function movesOf(payload, from, to) {
  const names = tagsOf(payload);
  const K = names.length;
  const allowed = payload.copies && integers(payload.copies.allowed);
  const sources = from === START ? [-1] : idsOf(names, from);
  const targets = to === END ? [K] : idsOf(names, to);
  return sources.flatMap((i) => targets.flatMap((j) => (allowed?.[(i + 1) * (K + 1) + j] === 0 ? [] : [`${i},${j}`])));
}

// The ids of a tag: one, or those of its copies.
/** @param {string[]} names @param {string} tag */
function idsOf(names, tag) {
  return names.flatMap((name, k) => (name === tag ? [k] : []));
}

// The name of one end of a transition: that of its original tag, START or END.
/** @param {Split} payload @param {number} id */
export function nameOf(payload, id) {
  return [START, ...tagsOf(payload), END][id + 1];
}

// Lists the edits, as crfviz/views/explanation.py does: "2 edits: AUX → VERB −3.00, 2 “can” NOUN 1.50". Empty without
// edits.
/** @param {Pick<Composed, "edits" | "words" | "offset" | "tags" | "copies">} model */
export function editList(model) {
  const { edits, words, offset = 0 } = model;
  const moves = [...edits.transitions].map(([cell, value]) => {
    const [from, to] = numbersOf(cell).map((id) => nameOf(model, id));
    return `${from} → ${to} ${score(value, 2)}`;
  });
  const cells = [...edits.emissions].map(([cell, value]) => {
    const [t, k] = numbersOf(cell);
    const word = words[t] === undefined ? "" : ` “${words[t]}”`;
    return `${offset + t + 1}${word} ${nameOf(model, k)} ${score(value, 2)}`;
  });
  const scaled = edits.strength === 1 ? [] : [`transitions × ${Number(edits.strength.toPrecision(6))}`];
  const every = [...new Set([...moves, ...cells, ...scaled])]; // a rule splits a tag into copies
  if (!every.length) return "";
  const more = every.length > MAX_LISTED ? ` and ${every.length - MAX_LISTED} more` : "";
  return `${every.length} edit${every.length > 1 ? "s" : ""}: ${every.slice(0, MAX_LISTED).join(", ")}${more}`;
}

// The product of a chain and the rule's automaton: a chain whose tags are copies, and the tag of each copy.
/** @param {Chain} chain @param {Pick<Payload, "kept" | "tags">} payload */
function timesRule(chain, { kept, tags: names }) {
  const { T, K, emissions, start, end } = chain;
  const allowed = integers(kept?.allowed ?? "");
  const of = (kept?.of ?? []).map((tag) => names.indexOf(tag));
  const N = of.length;
  /** @param {number} length @param {(i: number, k: number) => number} at */
  const table = (length, at) => Float64Array.from({ length }, (_, i) => at(Math.floor(i / N), i % N));
  /** @param {number} i @param {number} k @param {number} weight */
  const may = (i, k, weight) => (allowed[i * (N + 1) + k] ? weight : -Infinity);
  const product = {
    T,
    K: N,
    emissions: table(T * N, (t, k) => emissions[t * K + of[k]]),
    transitions: table((chain.transitions.length / K / K) * N * N, (i, k) =>
      may((i % N) + 1, k, transition(chain, Math.floor(i / N) + 1, of[i % N], of[k])),
    ),
    start: table(N, (_, k) => may(0, k, start[of[k]])),
    end: table(N, (_, k) => may(k + 1, N, end[of[k]])),
  };
  return { product, of };
}

// The row of the best path that matches the active rule, and its cost against the best score. The chain covers the
// whole sentence, the row the visible words.
/**
 * @param {Row} row @param {Chain} chain @param {Pick<Decoded, "kept" | "tags" | "offset" | "T">} payload
 * @param {number} best
 */
export function underRule(row, chain, payload, best) {
  if (!payload.kept) return row;
  const { product, of } = timesRule(chain, payload);
  const found = viterbi(product);
  const gain = found.score - best;
  const { offset = 0, T = found.path.length } = payload; // a live file has no window
  const tags = gain > -Infinity ? found.path.slice(offset, offset + T).map((k) => of[k]) : null;
  return { ...row, tags, value: gain < 0 ? score(gain, 2) : "" };
}

// All numbers over the paths that match the active rule, with each copy read as its tag. The tags alone then form no
// chain, so α, β and the table of best prefixes are NaN. `matching` is the product with its own numbers.
/** @param {Chain} chain @param {Pick<Payload, "kept" | "tags">} payload */
export function solveUnder(chain, payload) {
  const { T, K } = chain;
  const { product, of } = timesRule(chain, payload);
  const all = solve(product);
  const marginals = new Float64Array(T * K);
  all.marginals.forEach((p, i) => {
    marginals[Math.floor(i / of.length) * K + of[i % of.length]] += p;
  });
  const nothing = new Float64Array(T * K).fill(NaN);
  const { viterbi: path } = all.rows;
  const plain = solve(chain).rows;
  return {
    ...all,
    ...{ alpha: nothing, beta: nothing, best: nothing, marginals },
    backpointers: new Int16Array(T * K).fill(-1),
    rows: {
      ...plain,
      viterbi: path?.map((k) => of[k]) ?? null,
      max_marginal: path && rowwiseArgmax(chain, marginals),
    },
    matching: { chain: product, solved: all },
  };
}

// The cells of one emission.
/** @param {Split} payload @param {number} t @param {string} tag */
export function placesOf(payload, t, tag) {
  return idsOf(tagsOf(payload), tag).map((k) => `${t},${k}`);
}

// The scores of a payload as a chain for the recursions.
/** @param {Scores} scores @param {number} T @param {number} K */
export function chainOf(scores, T, K) {
  return {
    T,
    K,
    emissions: floats(scores.emissions),
    transitions: everyStep(floats(scores.transitions), scores.steps, T, K),
    start: floats(scores.start),
    end: floats(scores.end),
  };
}

// The chain with the edits applied, by the same rules as crfviz/chain/edits.py: the strength scales, cells overwrite;
// then each pin leaves one tag at its word. It covers the whole sentence.
/** @param {Pick<Decoded, "base" | "offset" | "tags" | "copies" | "K" | "pins">} payload @param {Edits} edits */
export function applyEdits({ base, offset, tags, copies, K, pins }, edits) {
  /** @param {number} score */
  const scale = (score) => (score === -Infinity ? score : score * edits.strength);
  const chain = {
    ...base,
    emissions: base.emissions.slice(),
    transitions: base.transitions.map(scale),
    start: base.start.map(scale),
    end: base.end.map(scale),
  };
  for (const [cell, value] of edits.transitions) {
    const [from, to] = numbersOf(cell);
    if (from < 0) chain.start[to] = value;
    else if (to === K) chain.end[from] = value;
    else {
      const own = from * K + to;
      for (let step = 0; step < chain.transitions.length; step += K * K) chain.transitions[step + own] = value;
    }
  }
  for (const [cell, value] of edits.emissions) {
    const [t, k] = numbersOf(cell);
    if (t + offset < chain.T) chain.emissions[(t + offset) * K + k] = value;
  }
  const names = tagsOf({ tags, copies });
  for (const [t, tag] of pins) {
    const row = (t + offset) * K;
    for (let k = 0; k < K && row < chain.T * K; k++) if (names[k] !== tag) chain.emissions[row + k] = -Infinity;
  }
  return chain;
}

// The ids of drawn tags. `kept` has those drawn until Python answers, so that no row vanishes meanwhile.
/** @param {Omit<Composed, "shown" | "order" | "payloadRows">} model @param {Set<number>} [kept] */
export function shownTags(model, kept = new Set()) {
  const { K, T } = model;
  if (K <= FEW_TAGS) return new Set(Array(K).keys());
  const shown = new Set(kept);
  const tables = [model.results.marginals, model.ghost?.marginals].filter((table) => table !== undefined);
  for (let k = 0; k < K; k++) {
    for (let t = 0; t < T && !shown.has(k); t++) {
      if (tables.some((marginals) => marginals[t * K + k] > MASS)) shown.add(k);
    }
  }
  if (model.asked) shown.add(model.asked[1]);
  for (const row of model.rows) row.tags?.forEach((k) => shown.add(k));
  model.ghost?.path?.forEach((k) => shown.add(k));
  for (const cell of model.edits.emissions.keys()) shown.add(numbersOf(cell)[1]);
  const byHand = model.edits.transitions.size <= MAX_BY_HAND; // a learning step changes all of them
  const ends = byHand ? [...model.edits.transitions.keys()].flatMap(numbersOf) : [];
  for (const k of ends.filter((id) => id >= 0 && id < K)) shown.add(k);
  return shown.size >= K - 1 ? new Set(Array(K).keys()) : shown;
}

// The weight of a cell, -1 for START and K for END; if each step has its own matrix, that of the step into word t.
/** @param {Counts} chain @param {number} from @param {number} to @param {number} [t] */
export function weight(chain, from, to, t = 1) {
  if (from < 0) return chain.start[to];
  if (to === chain.K) return chain.end[from];
  return transition(chain, t, from, to);
}

// One matrix, or one per step: `steps` holds the cells in which they differ.
/** @param {Float64Array} matrix @param {StepMatrices | null} steps @param {number} T @param {number} K */
function everyStep(matrix, steps, T, K) {
  if (steps === null) return matrix;
  const all = new Float64Array((T - 1) * K * K);
  for (let t = 0; t < T - 1; t++) all.set(matrix, t * K * K);
  const values = floats(steps.values);
  for (const [i, cell] of new Int32Array(binary(steps.cells).buffer).entries()) all[cell] = values[i];
  return all;
}

// The tables of a ghost: those in the payload, else those computed from the trained scores.
/** @param {TrainedResults} ghost @param {Pick<Decoded, "base" | "offset" | "T" | "K">} known */
function ghostTables(ghost, known) {
  if (ghost.marginals) return tablesOf(ghost);
  const { marginals, alpha, beta, best } = solutionIn(solve(known.base), known);
  return { marginals, alpha, beta, best };
}

/** @param {object} data */
function tablesOf(data, names = TABLES) {
  const texts = /** @type {Record<string, Floats | null | undefined>} */ (data);
  return Object.fromEntries(names.flatMap((name) => (texts[name] ? [[name, floats(texts[name])]] : [])));
}

// A ruler with the cell of its weight.
/** @param {RulerData} ruler @param {Split} payload */
function rulerOf(ruler, payload) {
  const [cell] = movesOf(payload, ...ruler.weight);
  return { ...ruler, cell: numbersOf(cell), trained: ruler.trained ?? -Infinity, pieces: ruler.pieces.map(unbounded) };
}

/** @param {PieceData} piece */
function unbounded({ label, low, high }) {
  return { label, low: low ?? -Infinity, high: high ?? Infinity };
}

// Counts by weight, in the shape of a chain.
/** @param {Record<"transitions" | "start" | "end", string>} counts @param {(text: string) => Numbers} read */
function counts({ transitions, start, end }, read) {
  return { K: read(start).length, transitions: read(transitions), start: read(start), end: read(end) };
}

// A table with the cells that the steps have written so far.
/** @param {Table} table @param {{ T: number, K: number }} model @param {number} at @returns {Table} */
export function writtenAt(table, { T, K }, at) {
  if (!table.writes) return table;
  const values = new Float64Array(T * K).fill(NaN);
  const written = new Map();
  for (const [step, text] of table.writes.slice(0, at).entries()) {
    const cells = floats(text);
    for (let i = 0; i < cells.length; i += 3) {
      const cell = cells[i] * K + cells[i + 1];
      values[cell] = cells[i + 2];
      written.set(cell, step === at - 1);
    }
  }
  return { ...table, values, written };
}

/** @param {string} text */
function floats(text) {
  return new Float64Array(binary(text).buffer);
}

/** @param {string} text */
function integers(text) {
  return new Int16Array(binary(text).buffer);
}

// A loop, because `Uint8Array.from` is far slower, and a long sentence has a million letters.
/** @param {string} text */
function binary(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
