// The texts around the picture: its identity, note and legend, the heads of rows, and the button for folded tags.

import { button, flag, hide, html, present, setProperty, setText } from "../dom.js";
import { hasNoKeys } from "../keyboard.js";
import { FEW_TAGS } from "../model.js";
import { drawColumns } from "../parts/strips.js";
import { unfold } from "./actions.js";
import { identityLine } from "./identity.js";
import { widthIn } from "./measuring.js";
import { legendOf } from "./visibility.js";
import { linesOf } from "./widths.js";

/** @import { Model, Stage } from "../types.js" */

const NOTE_MARGINS = 10; // pixels; equal to the style sheet, as are the next ones
const NOTE = { padding: 14, close: 8, sides: 24, line: 19.95, letters: 15.96 };

/** @param {Stage} stage */
export function buildTexts(stage) {
  const { root } = stage;
  const identity = html("div.identity");
  const fold = button("", () => unfold(stage, !stage.model.unfolded), { class: "fold" });
  const heading = html("div.label");
  const note = html("div.note", { role: "status" });
  const legend = html("div.legend");
  return {
    identity,
    fold,
    heading,
    note,
    legend,
    /** @param {Model} next */
    write(next) {
      const folded = next.K - next.shown.size;
      const problem = next.panels.side === "matrix" ? null : next.message; // otherwise it is shown under the matrix
      setText(note, next.live ? "…" : next.note);
      const kept = next.live ? `${stage.noteHeight - NOTE_MARGINS}px` : "auto"; // so that nothing moves during a drag
      setProperty(note, "min-height", kept);
      present(note, Boolean(next.note) && next.sees("note"));
      setText(identity, next.title ?? identityLine(next));
      const impossible = next.results.logPartition === -Infinity; // shown before any step
      present(identity, next.title !== null || next.sees("score") || (impossible && !next.covered.has("score")));
      if (next.heading.length) drawColumns(heading, next.heading);
      hide(fold, (folded === 0 && !(next.unfolded && next.K > FEW_TAGS)) || next.panels.main.length === 0);
      setText(fold, next.unfolded ? "Hide unlikely tags" : `${folded} unlikely tags hidden · Show`);
      setText(legend, problem ?? legendOf(next, !hasNoKeys()));
      flag(legend, { problem: Boolean(problem) });
    },
    // In pixels, at least one line, also before the text arrives.
    noteHeight() {
      if (note.isConnected) return note.offsetHeight + NOTE_MARGINS;
      if (!note.textContent || stage.model.covered.has("note")) return 0;
      const unit = stage.sizes?.unit ?? 1;
      const widthOf = widthIn(`${NOTE.letters * unit}px ${getComputedStyle(root).fontFamily}`);
      const lines = linesOf(note.textContent, widthOf, root.clientWidth - NOTE.sides);
      const padding = root.hasAttribute("data-close") ? NOTE.close : NOTE.padding;
      return NOTE_MARGINS + Math.round(padding + unit * NOTE.line * lines);
    },
  };
}
