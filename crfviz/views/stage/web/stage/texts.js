// Sentences about the whole picture: its probability, and the step of Viterbi at which the walk stands.

import { probability, score } from "../numbers.js";

export function identityLine(model) {
  const { results, ghost } = model;
  const { score: best, logPartition } = results;
  if (logPartition === -Infinity) {
    return "No tag sequence is allowed: log Z = −∞. Undo an edit or restore a forbidden cell.";
  }
  const log = best - logPartition;
  const share = probability(Math.min(1, Math.exp(log)));
  if (!model.probabilistic) return scoresLine(model, share);
  const now = `score ${score(best, 2)} − log Z ${score(logPartition, 2)} = log p ${score(log, 2)}  ·  p = ${share}`;
  if (ghost?.log_partition === undefined || ghost.log_partition === null) return now;
  return `${now}, was ${probability(ghost.probability)}  ·  log Z was ${score(ghost.log_partition, 2)}`;
}

// For a model whose scores are no probabilities: Z is what a CRF with these scores would say.
function scoresLine({ results, margin, live }, share) {
  const lead = margin === null || live ? "" : `, ${score(margin, 2)} ahead of the next path`;
  const asCrf = `a CRF with these scores would say log Z ${score(results.logPartition, 2)}, p = ${share}`;
  return `score ${score(results.score, 2)}${lead}  ·  scores, not probabilities: ${asCrf}`;
}

export function stepText({ T, words, tags, results: { path } }, at) {
  if (!path) return "No path is allowed, so there is nothing to trace back.";
  if (at === 1) return `Start: each tag of “${words[0]}” by itself.`;
  if (at <= T) return `Forward ${at} of ${T}: the best way into each tag of “${words[at - 1]}”.`;
  const t = 2 * T - at;
  if (at === T + 1) return `Back: ${tags[path[t]]} ends the best path (best score plus END).`;
  if (at === 2 * T) return "The best path, read back along the backpointers.";
  return `Back: the pointer leads from ${tags[path[t + 1]]} to ${tags[path[t]]} at “${words[t]}”.`;
}
