// The sentence about the whole picture: its probability. And the room that texts take.

import { html } from "../dom.js";
import { probability, score } from "../numbers.js";

/** @import { Model } from "../types.js" */

// How wide a text is in a font, in pixels.
/** @param {string} font */
export function widthIn(font) {
  const canvas = /** @type {CanvasRenderingContext2D} */ (html("canvas").getContext("2d"));
  canvas.font = font;
  /** @param {string} text */
  return (text) => canvas.measureText(text).width;
}

// Lines of a text that breaks between words where they are wider together than `room`.
/** @param {string} text @param {(text: string) => number} widthOf @param {number} room */
export function linesOf(text, widthOf, room) {
  let [lines, line] = [1, ""];
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    const fits = !line || widthOf(longer) <= room;
    line = fits ? longer : word;
    lines += fits ? 0 : 1;
  }
  return lines;
}

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

// For a model whose scores are no probabilities: Z is what a CRF with these scores would say.
/** @param {Model} model @param {string} share */
function scoresLine({ results, margin, live }, share) {
  const lead = margin === null || live ? "" : `, ${score(margin, 2)} ahead of the next path`;
  const asCrf = `a CRF with these scores would say log Z ${score(results.logPartition, 2)}, p = ${share}`;
  return `score ${score(results.score, 2)}${lead}  ·  scores, not probabilities: ${asCrf}`;
}
