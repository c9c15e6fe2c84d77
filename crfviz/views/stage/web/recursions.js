// The chain's recursions in the browser, for edits that are drawn before the server answers.
//
// Python (crfviz/chain) is the truth; a test holds these functions to it within 1e-9. Pure functions, float64, no DOM.
// Letters: T tokens, K tags. Tables are flat Float64Arrays: table[t * K + k]. Transitions are [from, to], either one
// matrix (K * K) or one per step ((T - 1) * K * K). -Infinity means forbidden and nothing else does.

/** @import { Chain, Counts, Numbers } from "./types.js" */

// Two scores this close, relative to their size, are a tie (see crfviz/chain/decoding/viterbi.py).
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
  const sums = new Float64Array(K);
  for (let k = 0; k < K; k++) alpha[k] = start[k] + emissions[k];
  for (let t = 1; t < T; t++) {
    for (let to = 0; to < K; to++) {
      for (let from = 0; from < K; from++) sums[from] = alpha[(t - 1) * K + from] + transition(chain, t, from, to);
      alpha[t * K + to] = logSumExp(sums) + emissions[t * K + to];
    }
  }
  return alpha;
}

/** @param {Chain} chain */
export function backward(chain) {
  const { T, K, emissions, end } = chain;
  const beta = new Float64Array(T * K);
  const sums = new Float64Array(K);
  for (let k = 0; k < K; k++) beta[(T - 1) * K + k] = end[k];
  for (let t = T - 2; t >= 0; t--) {
    for (let from = 0; from < K; from++) {
      for (let to = 0; to < K; to++) {
        const next = (t + 1) * K + to;
        sums[to] = transition(chain, t + 1, from, to) + emissions[next] + beta[next];
      }
      beta[t * K + from] = logSumExp(sums);
    }
  }
  return beta;
}

// A cell that no prefix reaches has no backpointer: -1, as in the first column.
/** @param {Chain} chain */
export function viterbi(chain) {
  const { T, K, emissions, start, end } = chain;
  const best = new Float64Array(T * K);
  const backpointers = new Int16Array(T * K).fill(-1);
  const candidates = new Float64Array(K);
  for (let k = 0; k < K; k++) best[k] = start[k] + emissions[k];
  for (let t = 1; t < T; t++) {
    for (let to = 0; to < K; to++) {
      for (let from = 0; from < K; from++) candidates[from] = best[(t - 1) * K + from] + transition(chain, t, from, to);
      const winner = argmax(candidates);
      best[t * K + to] = maximum(candidates) + emissions[t * K + to];
      if (candidates[winner] + emissions[t * K + to] > -Infinity) backpointers[t * K + to] = winner;
    }
  }
  for (let k = 0; k < K; k++) candidates[k] = best[(T - 1) * K + k] + end[k];
  const path = new Array(T);
  path[T - 1] = argmax(candidates);
  for (let t = T - 1; t > 0; t--) path[t - 1] = backpointers[t * K + path[t]]; // of no use where no path is allowed
  return { best, backpointers, path, score: maximum(candidates) };
}

// From here on scores tie with the largest.
/** @param {number} largest */
export function leastTie(largest) {
  return largest - TIE * Math.max(1, Math.abs(largest));
}

// The transition score of the step that ends at token t (t >= 1).
/** @param {Pick<Counts, "K" | "transitions">} chain @param {number} t @param {number} from @param {number} to */
export function transition(chain, t, from, to) {
  const { K, transitions } = chain;
  const offset = transitions.length > K * K ? (t - 1) * K * K : 0;
  return transitions[offset + from * K + to];
}

/** @param {Chain} chain @param {Float64Array} alpha @param {Float64Array} beta @param {number} logPartition */
function tokenMarginals({ T, K }, alpha, beta, logPartition) {
  const marginals = new Float64Array(T * K);
  if (logPartition === -Infinity) return marginals;
  for (let i = 0; i < T * K; i++) marginals[i] = Math.exp(alpha[i] + beta[i] - logPartition);
  return marginals;
}

// Commits to each tag in turn; where every continuation is forbidden the word alone decides.
/** @param {Chain} chain */
function leftToRightGreedy(chain) {
  const { T, K, emissions, start, end } = chain;
  /** @type {number[]} */
  const path = [];
  for (let t = 0; t < T; t++) {
    const own = emissions.subarray(t * K, (t + 1) * K);
    const scores = own.map((emission, k) => {
      const before = t === 0 ? start[k] : transition(chain, t, path[t - 1], k);
      return emission + before + (t === T - 1 ? end[k] : 0);
    });
    path.push(argmax(maximum(scores) === -Infinity ? own : scores));
  }
  return path;
}

/** @param {Chain} chain @param {Float64Array} table */
function rowwiseArgmax({ T, K }, table) {
  return Array.from({ length: T }, (_, t) => argmax(table.subarray(t * K, (t + 1) * K)));
}

/** @param {Chain} chain @param {Float64Array} table */
function lastRow({ T, K }, table) {
  return table.slice((T - 1) * K, T * K);
}

// The lowest index whose value ties with the largest.
/** @param {Numbers} values */
function argmax(values) {
  const largest = maximum(values);
  if (largest === -Infinity) return 0;
  let index = 0;
  while (values[index] < leastTie(largest)) index++;
  return index;
}

/** @param {Numbers} values */
function maximum(values) {
  let largest = -Infinity;
  for (const value of values) if (value > largest) largest = value;
  return largest;
}
