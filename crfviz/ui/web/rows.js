// A table of a question: its first row and first column are heads.

import { html } from "../../views/stage/web/dom.js";

export function tableOf(rows, attributes = {}) {
  const cells = (row, i) => row.map((text, j) => html(i && j ? "td" : "th", text));
  return html(
    "table",
    attributes,
    rows.map((row, i) => html("tr", cells(row, i))),
  );
}
