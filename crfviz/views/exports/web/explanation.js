// One sentence on the outcome, with the numbers that decided it, as in crfviz/views/explanation.py; a test
// holds these to that. `state` is { chain, words, tags, solved }, the last as recursions.js solves the chain.

import { END, START } from "../../stage/web/model.js";
import { minus, score } from "../../stage/web/numbers.js";
import { leastTie, transition } from "../../stage/web/recursions.js";

const TOLERANCE = 1e-12; // of equal numbers
const READABLE = 1e6; // larger numbers are written as powers of ten

// Why Viterbi and the other decoders disagree, at the first word where they do.
export function explain(state) {
  const { greedy, left_to_right: leftToRight, max_marginal: maxMarginal, viterbi: path } = state.solved.rows;
  if (!path) {
    return (
      "No tag sequence is allowed: forbidden cells leave no way from the first word to the last. " +
      "Undo an edit, or restore a forbidden cell."
    );
  }
  const others = [
    [greedy, againstLoneWord],
    [leftToRight, againstLeftToRight],
    [maxMarginal, againstMaxMarginal],
  ];
  const tie = ties(state) ? " Another path is exactly as good." : "";
  for (const [other, reason] of others) {
    const t = path.findIndex((k, at) => k !== other[at]);
    if (t >= 0) return reason(state, path, t) + tie;
  }
  const { score: best, logPartition } = state.solved;
  return (
    "All decoders agree on this sentence: the transitions do not change these tags. " +
    `The best path has probability ${probability(Math.exp(Math.min(0, best - logPartition)))}.${tie}`
  );
}

// How uncertain the whole path is, in nats and as a number of equally likely paths.
export function entropyNote({ chain, solved }) {
  if (!solved.rows.viterbi) return "No tag sequence is allowed, so there is no distribution to show.";
  const { T, K } = chain;
  const { matching = { chain, solved } } = solved;
  const entropy = entropyOf(matching.chain, matching.solved);
  return (
    `Entropy of the path ${score(entropy, 2)} nats of at most ${score(T * Math.log(K), 1)}: ` +
    `as uncertain as ${large(entropy)} equally likely paths, out of ${K}^${T}.`
  );
}

// Viterbi's tag against the tag with the best emission, neighbours as on Viterbi's path.
function againstLoneWord({ chain, words, tags, solved }, path, t) {
  const [ours, theirs] = [path[t], solved.rows.greedy[t]];
  const own = emissionsAt(chain, t);
  const lead = own[theirs] - own[ours];
  const alone = same(own[theirs], own[ours])
    ? `scores ${tags[theirs]} as high`
    : `prefers ${tags[theirs]} by ${short(lead)} nats`;
  const opening = `Viterbi tags “${words[t]}” ${tags[ours]} although its emission ${alone}`;
  const sides = [leftOf, rightOf].map((side) => compared(side(chain, tags, path, t), ours, theirs));
  const forbidden = sides.find(({ gain }) => gain === Infinity);
  if (forbidden) return `${opening}: the transition ${forbidden.text} is forbidden.`;
  const [less, more] = sides.sort((a, b) => a.gain - b.gain || (a.text < b.text ? -1 : 1));
  if (more.gain < lead && !same(more.gain, lead)) {
    return `${opening}: the transition ${more.text} by ${short(more.gain)}, and ${less.text} by ${short(less.gain)}.`;
  }
  const rest =
    Math.abs(less.gain) >= 0.05 ? ` (the other neighbour: ${less.gain > 0 ? "+" : ""}${short(less.gain)})` : "";
  return `${opening}: the transition ${more.text} by ${short(more.gain)}${rest}.`;
}

// The greedy step that looked better, but leads to a worse path.
function againstLeftToRight({ chain, words, tags, solved }, path, t) {
  const early = solved.rows.left_to_right;
  const step = arriving(chain, path, t);
  const lead = step[early[t]] - step[path[t]];
  const total = scoreOf(chain, early);
  const lost = solved.score - total;
  const better = same(step[early[t]], step[path[t]]) ? "as good as" : `${short(lead)} better than`;
  const opening = `Greedy tags “${words[t]}” ${tags[early[t]]}, ${better} ${tags[path[t]]} so far`;
  if (lost === Infinity) return `${opening}, but its path is forbidden.`;
  if (same(total, solved.score)) return `${opening}, and its path scores as much as Viterbi's.`;
  return `${opening}; the rest costs it ${short(lost + lead)}, so its path scores ${short(lost)} less than Viterbi's.`;
}

// Where the most probable tag is not the one on the most probable path.
function againstMaxMarginal(state, path, t) {
  const { words, tags, solved, chain } = state;
  const [theirs, ours] = [solved.rows.max_marginal[t], path[t]];
  const [first, second] = [theirs, ours].map((k) => solved.marginals[t * chain.K + k]);
  const [larger, smaller] = toldApart(first, second);
  const best = ties(state) ? "a best path" : "the single best path";
  return (
    `For “${words[t]}” max-marginal takes ${tags[theirs]} (p ${larger}): all paths through it together weigh ` +
    `${same(first, second) ? "as much as" : "more than"} those through ${tags[ours]} (p ${smaller}), ` +
    `which lies on ${best}.`
  );
}

// Whether another path is as good as the best one.
function ties({ chain, solved }) {
  const { T, K, end } = chain;
  const { best } = solved;
  const path = solved.rows.viterbi;
  const several = (sums) => sums.filter((sum) => sum >= leastTie(Math.max(...sums))).length > 1;
  const tags = Array.from({ length: K }, (_, k) => k);
  if (several(tags.map((k) => best[(T - 1) * K + k] + end[k]))) return true;
  return path.some((to, t) => t > 0 && several(tags.map((k) => best[(t - 1) * K + k] + transition(chain, t, k, to))));
}

// The score of each tag at t on one side, and the name of its step.
function leftOf(chain, tags, path, t) {
  const before = t ? tags[path[t - 1]] : START;
  return { scores: entering(chain, path, t), name: (k) => `${before}→${tags[k]}` };
}

function rightOf(chain, tags, path, t) {
  if (t === path.length - 1) return { scores: chain.end, name: (k) => `${tags[k]}→${END}` };
  const scores = tags.map((_, k) => transition(chain, t + 1, k, path[t + 1]));
  return { scores, name: (k) => `${tags[k]}→${tags[path[t + 1]]}` };
}

// How much our tag's step leads the other's, and both steps as text.
function compared({ scores, name }, ours, theirs) {
  if (scores[theirs] === -Infinity) return { gain: Infinity, text: name(theirs) };
  return { gain: scores[ours] - scores[theirs], text: `${name(ours)} beats ${name(theirs)}` };
}

// The scores of the step into each tag at t, after `path`.
function entering(chain, path, t) {
  if (!t) return chain.start;
  return Float64Array.from({ length: chain.K }, (_, k) => transition(chain, t, path[t - 1], k));
}

// The scores that greedy decoding compares at t after the tags of `path`.
function arriving(chain, path, t) {
  const own = emissionsAt(chain, t);
  return entering(chain, path, t).map((step, k) => step + own[k] + (t === path.length - 1 ? chain.end[k] : 0));
}

function emissionsAt({ emissions, K }, t) {
  return emissions.subarray(t * K, (t + 1) * K);
}

function scoreOf(chain, path) {
  const { K, emissions, start, end } = chain;
  const steps = path.map((k, t) => (t ? transition(chain, t, path[t - 1], k) : start[k]) + emissions[t * K + k]);
  return steps.reduce((sum, step) => sum + step, end[path.at(-1)]);
}

// Of the distribution over paths, nats: H(y_1) + Σ H(y_t+1 | y_t).
function entropyOf(chain, { alpha, beta, marginals, logPartition }) {
  const { T, K, emissions } = chain;
  let entropy = spread(marginals.subarray(0, K));
  for (let t = 1; t < T; t++) {
    entropy -= spread(marginals.subarray((t - 1) * K, t * K));
    for (let to = 0; to < K; to++) {
      const after = emissions[t * K + to] + beta[t * K + to] - logPartition;
      for (let from = 0; from < K; from++) {
        const log = alpha[(t - 1) * K + from] + transition(chain, t, from, to) + after;
        if (log > -Infinity) entropy -= Math.exp(log) * log;
      }
    }
  }
  return Math.max(0, entropy);
}

// −Σ p log p.
function spread(probabilities) {
  return probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
}

// A score in a sentence: two decimals, of less than 0.005 one figure.
function short(value) {
  const size = Math.abs(value);
  if (size < 0.005) return value ? exponential(value) : "0";
  return score(value, 2);
}

// Two decimals, and one figure where those would be all 0.
function probability(value) {
  if (value === 0 || value >= 0.005) return value.toFixed(2);
  return value >= 1e-4 ? value.toPrecision(1) : exponential(value);
}

// Two probabilities with as many digits as it takes to see which is larger.
function toldApart(first, second) {
  let texts = [probability(first), probability(second)];
  for (let digits = 4; texts[0] === texts[1] && !same(first, second); digits += 2) {
    texts = [first.toFixed(digits), second.toFixed(digits)];
  }
  return texts;
}

// One figure and the size, as in 4e−05.
function exponential(value) {
  return minus(value.toExponential(0).replace(/e([-+])(\d)$/, (_, sign, digit) => `e${sign}0${digit}`));
}

// A number, given its logarithm; it may exceed a float.
function large(log) {
  if (log < Math.log(READABLE)) return Math.exp(log).toFixed(1);
  const size = log / Math.LN10;
  const mantissa = (10 ** (size % 1)).toFixed(1);
  return mantissa === "10.0" ? `1.0e${Math.floor(size) + 1}` : `${mantissa}e${Math.floor(size)}`;
}

function same(first, second) {
  if (first === second) return true;
  const gap = Math.abs(first - second);
  return gap <= TOLERANCE * Math.max(1, Math.abs(first), Math.abs(second));
}
