// The answers to a question as bars with numbers; of two askings, both.

import { html } from "../../views/stage/web/dom.js";

// The bars of a choice, given the numbers of all choices; `before` is null for a single asking.
export function barsOf(place, counts, before) {
  const rows = before
    ? [
        ["before", before, "data-before"],
        ["now", counts, "data-count"],
      ]
    : [["", counts, "data-count"]];
  return html(
    "span.bars",
    rows.map(([when, all, name]) => {
      const share = all[place] / Math.max(1, ...all);
      return html(
        "span.bar",
        html("i", { style: `width: ${100 * share}%` }),
        when ? html("small", when) : [],
        html("b", { [name]: all[place] }, `${all[place]}`),
      );
    }),
  );
}
