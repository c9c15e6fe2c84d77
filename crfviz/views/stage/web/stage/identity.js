// The line above a picture: score, log Z and probability of the best path.

import { probability, score } from "../numbers.js";

/** @import { Model } from "../types.js" */

/** @param {Model} model */
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
  return `${now}, was ${probability(ghost.probability ?? 0)}  ·  log Z was ${score(ghost.log_partition, 2)}`;
}

// For unnormalised models: Z is that of a CRF with these scores.
/** @param {Model} model @param {string} share */
function scoresLine({ results, margin, live }, share) {
  const lead = margin === null || live ? "" : `, ${score(margin, 2)} ahead of the next path`;
  const asCrf = `a CRF with these scores would say log Z ${score(results.logPartition, 2)}, p = ${share}`;
  return `score ${score(results.score, 2)}${lead}  ·  scores, not probabilities: ${asCrf}`;
}
