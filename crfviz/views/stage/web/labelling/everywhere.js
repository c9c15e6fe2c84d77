// The marked name elsewhere in the document: the line below the sentence, the list of its places and their keys; and
// why a word has its tag. While the list is open, it takes the keys.

import { button, flag, html, mark, setText } from "../dom.js";
import { clamp } from "../numbers.js";

/** @import { LabellerPayload, Labelling, OccurrenceData } from "../types.js" */

const LIST_HINT = "↑ ↓ places";
// Each answer with its button, its key as displayed, and the key.
const ANSWERS = [
  ["yes", "Yes", "y", "y"],
  ["no", "No", "n", "n"],
  ["all", "All that are left", "a", "a"],
  ["undo", "Undo", "⌫", "Backspace"],
  ["undo all", "Undo all", "⇧⌫", "Shift+Backspace"],
  ["close", "Back", "Esc", "Escape"],
];

// Builds the line, the list and the explanation, and returns how to write them.
/** @param {Labelling} labelling */
export function buildEverywhere(labelling) {
  const line = html("div.everywhere");
  const list = html("div.occurrences", { role: "listbox", "aria-label": "The same name elsewhere" });
  const why = html("div.because", { role: "note", "aria-live": "polite" });
  const hint = html("div.hint");
  const answers = [actions(labelling), hint];
  const keys = html("div.answers"); // below the list, which may scroll
  return {
    elements: [line, why, list, keys],
    /** @param {Labelling} labelling */
    write({ data, row }) {
      writeLine(line, labelling, data);
      why.hidden = !data.why;
      mark(why, "data-because", data.why ? String(data.why.word) : null);
      why.replaceChildren(...(data.why?.lines ?? []).map((text) => html("p", text)));
      const rows = data.everywhere?.rows ?? null;
      list.hidden = keys.hidden = !rows;
      if (Boolean(rows) !== keys.hasChildNodes()) keys.replaceChildren(...(rows ? answers : []));
      setText(hint, rows?.length ? LIST_HINT : "No place is left. Esc goes back.");
      list.replaceChildren(...(rows ?? []).map((each, at) => occurrence(labelling, each, at, at === row)));
      list.querySelector("[data-cursor]")?.scrollIntoView({ block: "nearest" });
    },
  };
}

/** @param {HTMLElement} line @param {Labelling} labelling @param {LabellerPayload} data */
function writeLine(line, labelling, data) {
  const { everywhere } = data;
  line.hidden = !everywhere?.left;
  line.replaceChildren();
  if (!everywhere?.left) return;
  const key = listKey(data) === "e" ? "e" : "⇧E";
  const parts = [html("span", { dir: "auto" }, everywhere.text), html("span.keys", "·"), html("kbd", key)];
  line.append(
    button(parts, () => labelling.idle(() => answer(labelling, "open")), { "data-everywhere": everywhere.left }),
  );
}

/** @param {Labelling} labelling @param {OccurrenceData} each @param {number} at @param {boolean} chosen */
function occurrence(labelling, each, at, chosen) {
  const sure = each.p === null ? "" : ` ${each.p.toFixed(2)}`;
  const parts = [
    html("span.place", String(each.sentence)),
    html("span.text", { dir: "auto" }, [each.before, html("b", each.words), each.after]),
    html("span.now", `${each.tag}${sure}`),
    html("span.answer", each.answer === "yes" ? "✓ yes" : each.answer),
  ];
  const made = html("div.occurrence", { role: "option", "data-occurrence": at, "aria-selected": chosen }, parts);
  flag(made, { cursor: chosen, answer: each.answer || null });
  made.addEventListener("click", () => {
    labelling.row = at;
    labelling.draw();
  });
  return made;
}

/** @param {Labelling} labelling */
function actions(labelling) {
  const buttons = ANSWERS.map(([said, text, shown]) =>
    button([html("span", text), html("kbd", shown)], () => labelling.idle(() => answer(labelling, said)), {
      "data-answer-all": said,
    }),
  );
  return html("div.actions", buttons);
}

// Sends an answer about the place under the cursor; after yes and no the cursor goes to the next open one.
/** @param {Labelling} labelling @param {string} said */
export function answer(labelling, said) {
  const rows = labelling.data.everywhere?.rows ?? [];
  if (said !== "open" && said !== "close" && !rows.length) return;
  labelling.emit("everywhere", { answer: said, at: rows.length ? labelling.row : -1 });
  if (said === "open") labelling.row = 0;
  if (said !== "yes" && said !== "no") return;
  const next = rows.findIndex((each, at) => at > labelling.row && !each.answer);
  if (next >= 0) labelling.row = next;
}

// The key that opens the list: with Shift if a tag has the letter.
/** @param {LabellerPayload} data */
export function listKey({ choices }) {
  return choices.some(({ key }) => key === "e") ? "E" : "e";
}

// The action of a key that concerns the name elsewhere; none for other keys. An open list takes all letters.
/** @param {Labelling} labelling @param {KeyboardEvent} event @returns {(() => void) | undefined} */
export function everywhereKey(labelling, { key, shiftKey }) {
  const { everywhere } = labelling.data;
  const rows = everywhere?.rows;
  if (!rows) return everywhere?.left && key === listKey(labelling.data) ? () => answer(labelling, "open") : undefined;
  const pressed = key.length === 1 ? key.toLowerCase() : shiftKey && key === "Backspace" ? `Shift+${key}` : key;
  const found = ANSWERS.find(([, , , own]) => own === pressed);
  if (found) return () => answer(labelling, found[0]);
  const by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
  if (by === undefined) return key === "Tab" ? undefined : () => {};
  return () => {
    labelling.row = clamp(labelling.row + by, 0, Math.max(0, rows.length - 1));
    labelling.draw();
  };
}
