// The chain's recursions in the browser, for edits that are drawn before the server responds.
//
// Python (crfviz/chain) is the reference; a test compares these functions within 1e-9. Pure functions, float64, no DOM.
// Letters: T tokens, K tags. Tables are flat Float64Arrays: table[t * K + k]. Transitions are [from, to], either one
// matrix (K * K) or one per step ((T - 1) * K * K). Only -Infinity means forbidden.

/** @import { Chain, Counts, Numbers } from "./types.js" */

// Two scores this close, relative to their size, are a tie (see crfviz/chain/recursions.py).
const TIE = 1e-12;

/** @param {Numbers} values */
export function logSumExp(values) {
  const largest = maximum(values);
  if (largest === -Infinity) return -Infinity;
  let sum = 0;
  for (const value of values) sum += Math.exp(value - largest);
  return largest + Math.log(sum);
}

// Everything the pictures need, from one chain { T, K, emissions, transitions, start, end }.
/** @param {Chain} chain */
export function solve(chain) {
  const alpha = forward(chain);
  const beta = backward(chain);
  const logPartition = logSumExp(lastRow(chain, alpha).map((score, k) => score + chain.end[k]));
  const marginals = tokenMarginals(chain, alpha, beta, logPartition);
  const decoded = viterbi(chain);
  const possible = logPartition !== -Infinity;
  return {
    alpha,
    beta,
    logPartition,
    marginals,
    best: decoded.best,
    backpointers: decoded.backpointers,
    score: decoded.score,
    rows: {
      greedy: rowwiseArgmax(chain, chain.emissions),
      left_to_right: leftToRightGreedy(chain),
      viterbi: possible ? decoded.path : null,
      max_marginal: possible ? rowwiseArgmax(chain, marginals) : null,
    },
  };
}

/** @param {Chain} chain */
export function forward(chain) {
  const { T, K, emissions, start } = chain;
  const alpha = new Float64Array(T * K);
  const sums = summing(chain, (from, to) => from * K + to);
  for (let k = 0; k < K; k++) alpha[k] = start[k] + emissions[k];
  for (let t = 1; t < T; t++) {
    const into = alpha.subarray(t * K, (t + 1) * K);
    sums(alpha.subarray((t - 1) * K, t * K), t, into);
    for (let to = 0; to < K; to++) into[to] += emissions[t * K + to];
  }
  return alpha;
}

/** @param {Chain} chain */
export function backward(chain) {
  const { T, K, emissions, end } = chain;
  const beta = new Float64Array(T * K);
  const after = new Float64Array(K);
  const sums = summing(chain, (to, from) => from * K + to);
  for (let k = 0; k < K; k++) beta[(T - 1) * K + k] = end[k];
  for (let t = T - 2; t >= 0; t--) {
    for (let to = 0; to < K; to++) after[to] = emissions[(t + 1) * K + to] + beta[(t + 1) * K + to];
    sums(after, t + 1, beta.subarray(t * K, (t + 1) * K));
  }
  return beta;
}

const SAFE = 1e-200; // for sums of products of at most 1: underflowing terms are less than 1e-100 of the sum

// Returns a function (scores, t, into) of the step into token t: into[k] = log Σ_j exp(scores[j] + transition(j, k)).
// `cell` gives the index of transition (j, k). The sum uses products of exponentials, which are computed once for K²
// transitions and not for each token; if it is so small that a term may underflow, it uses logarithms.
/** @param {Chain} chain @param {(j: number, k: number) => number} cell */
function summing(chain, cell) {
  const { K, transitions } = chain;
  const steps = transitions.length > K * K;
  const [factors, shares, sums] = [new Float64Array(K * K), new Float64Array(K), new Float64Array(K)]; // [k * K + j]
  let largest = -Infinity;
  /** @param {number} offset */
  const take = (offset) => {
    largest = maximum(transitions.subarray(offset, offset + K * K));
    for (let k = 0; k < K; k++) {
      for (let j = 0; j < K; j++) factors[k * K + j] = Math.exp(transitions[offset + cell(j, k)] - largest) || 0;
    }
  };
  if (!steps) take(0);
  /** @param {Float64Array} scores @param {number} t @param {Float64Array} into */
  return (scores, t, into) => {
    const offset = matrixAt(chain, t);
    if (steps) take(offset);
    const most = maximum(scores);
    for (let j = 0; j < K; j++) shares[j] = Math.exp(scores[j] - most) || 0; // NaN if all are forbidden
    for (let k = 0; k < K; k++) {
      let sum = 0;
      for (let j = 0; j < K; j++) sum += shares[j] * factors[k * K + j];
      if (sum < SAFE) {
        for (let j = 0; j < K; j++) sums[j] = scores[j] + transitions[offset + cell(j, k)];
        into[k] = logSumExp(sums);
      } else into[k] = most + largest + Math.log(sum);
    }
  };
}

// An unreachable cell has no backpointer: -1, as in the first column.
/** @param {Chain} chain */
export function viterbi(chain) {
  const { T, K, emissions, transitions, start, end } = chain;
  const best = new Float64Array(T * K);
  const backpointers = new Int16Array(T * K).fill(-1);
  const candidates = new Float64Array(K);
  for (let k = 0; k < K; k++) best[k] = start[k] + emissions[k];
  for (let t = 1; t < T; t++) {
    const [before, offset] = [(t - 1) * K, matrixAt(chain, t)];
    for (let to = 0; to < K; to++) {
      let largest = -Infinity;
      for (let from = 0; from < K; from++) {
        candidates[from] = best[before + from] + transitions[offset + from * K + to];
        if (candidates[from] > largest) largest = candidates[from];
      }
      best[t * K + to] = largest + emissions[t * K + to];
      if (best[t * K + to] > -Infinity) backpointers[t * K + to] = argmax(candidates, largest);
    }
  }
  for (let k = 0; k < K; k++) candidates[k] = best[(T - 1) * K + k] + end[k];
  const path = new Array(T);
  path[T - 1] = argmax(candidates);
  for (let t = T - 1; t > 0; t--) path[t - 1] = backpointers[t * K + path[t]]; // unused if no path is allowed
  return { best, backpointers, path, score: maximum(candidates) };
}

// The least score that ties with the largest.
/** @param {number} largest */
export function leastTie(largest) {
  return largest - TIE * Math.max(1, Math.abs(largest));
}

// The transition score of the step that ends at token t (t >= 1).
/** @param {Pick<Counts, "K" | "transitions">} chain @param {number} t @param {number} from @param {number} to */
export function transition(chain, t, from, to) {
  return chain.transitions[matrixAt(chain, t) + from * chain.K + to];
}

// The index of the first transition of that step.
/** @param {Pick<Counts, "K" | "transitions">} chain @param {number} t */
function matrixAt({ K, transitions }, t) {
  return transitions.length > K * K ? (t - 1) * K * K : 0;
}

/** @param {Chain} chain @param {Float64Array} alpha @param {Float64Array} beta @param {number} logPartition */
function tokenMarginals({ T, K }, alpha, beta, logPartition) {
  const marginals = new Float64Array(T * K);
  if (logPartition === -Infinity) return marginals;
  for (let i = 0; i < T * K; i++) marginals[i] = Math.exp(alpha[i] + beta[i] - logPartition);
  return marginals;
}

// Commits to each tag in turn; if every continuation is forbidden, takes the best emission.
/** @param {Chain} chain */
function leftToRightGreedy(chain) {
  const { T, K, emissions, start, end } = chain;
  /** @type {number[]} */
  const path = [];
  const scores = new Float64Array(K);
  for (let t = 0; t < T; t++) {
    const own = emissions.subarray(t * K, (t + 1) * K);
    for (let k = 0; k < K; k++) {
      const before = t === 0 ? start[k] : transition(chain, t, path[t - 1], k);
      scores[k] = own[k] + before + (t === T - 1 ? end[k] : 0);
    }
    path.push(argmax(maximum(scores) === -Infinity ? own : scores));
  }
  return path;
}

/** @param {Chain} chain @param {Float64Array} table */
export function rowwiseArgmax({ T, K }, table) {
  return Array.from({ length: T }, (_, t) => argmax(table.subarray(t * K, (t + 1) * K)));
}

/** @param {Chain} chain @param {Float64Array} table */
function lastRow({ T, K }, table) {
  return table.slice((T - 1) * K, T * K);
}

// The lowest index whose value ties with the largest.
/** @param {Numbers} values */
function argmax(values, largest = maximum(values)) {
  if (largest === -Infinity) return 0;
  const least = leastTie(largest);
  let index = 0;
  while (values[index] < least) index++;
  return index;
}

/** @param {Numbers} values */
function maximum(values) {
  let largest = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > largest) largest = values[i];
  return largest;
}
