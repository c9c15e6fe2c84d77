// The text for screen readers: each step of a walk, and the parts that it or a key revealed.

import { html, setText } from "../dom.js";
import { score } from "../numbers.js";
import { partsOf } from "../stage/visibility.js";

/** @import { Model } from "../types.js" */

/** @typedef {ReturnType<typeof readingOf>} Announced */

export function buildScreenReader() {
  const element = html("div.heard", { role: "status" });
  /** @type {Announced | null} */
  let before = null;
  return {
    element,
    /** @param {Model} model */
    update(model) {
      const now = readingOf(model);
      const news = before && [...stepNews(before, now), ...coverNews(before, now)].join(" ");
      if (news) setText(element, news);
      before = now;
    },
  };
}

// The position in the walk, the existing and the covered parts, and the rows that are completely visible.
/** @param {Model} model */
function readingOf(model) {
  const { steps, covered, payloadRows, rows, tags, words, sees } = model;
  const whole = rows.filter(({ id, tags: path }) => path && words.every((_, t) => sees(id, t)));
  return {
    step: steps?.of ? steps.at : null,
    text: steps?.of ? [`Step ${steps.at} of ${steps.of}.`, steps.text, largest(model)].filter(Boolean).join(" ") : "",
    parts: partsOf({ ...model, rows: payloadRows }),
    covered,
    rows: new Map(
      whole.map(({ id, label, tags: path }) => [id, `${label}: ${path?.map((k) => tags[k] ?? "–").join(" ")}.`]),
    ),
  };
}

/** @param {Announced} before @param {Announced} now */
function stepNews(before, now) {
  if (before.step === null || now.step === null || before.step === now.step) return [];
  const rows = [...now.rows].filter(([id]) => !before.rows.has(id)).map(([, text]) => text);
  return [now.text, ...rows];
}

/** @param {Announced} before @param {Announced} now */
function coverNews(before, now) {
  return now.parts
    .filter(({ part }) => before.covered.has(part) !== now.covered.has(part))
    .map(({ part, name }) => (now.covered.has(part) ? `${name} covered.` : (now.rows.get(part) ?? `${name} shown.`)));
}

// The best of the nodes that the step revealed, while they show best(t, k).
/** @param {Model} model */
function largest({ steps, nodes, results, tags, K, sees }) {
  const column = steps?.column ?? null;
  if (column === null || nodes !== "best" || !results.best || sees("path", column) || !sees("nodes", column)) return "";
  const values = tags.map((_, k) => results.best[column * K + k]);
  const best = values.indexOf(Math.max(...values));
  return values[best] === -Infinity ? "" : `Largest: ${tags[best]}, ${score(values[best], 2)}.`;
}
