// The words of a sentence as letters, with every place where a word can be cut or two can be joined.

import { button, describe, flag, html } from "../dom.js";

/** @import { LabellerPayload } from "../types.js" */

// `onChange` gets the number of a boundary; `caret` is that of the one that has the focus.
/**
 * @param {HTMLElement} sheet
 * @param {LabellerPayload} data
 * @param {number} caret
 * @param {(boundary: number) => void} onChange
 */
export function drawBoundaries(sheet, { words }, caret, onChange) {
  let count = 0;
  /** @param {number} of @param {number} at @param {string} text */
  const boundary = (of, at, text) => {
    const own = count++;
    const made = button("", () => onChange(own), { class: at ? "cut" : "join", tabindex: own === caret ? 0 : -1 });
    flag(made, { boundary: own, of, at, caret: own === caret });
    describe(made, text);
    return made;
  };
  const pieces = words.map((word, t) => {
    const letters = cutsOf(word).flatMap(([from, to], n) => {
      const [before, after] = [word.slice(0, from), word.slice(from)];
      const cut = n ? [boundary(t, [...before].length, `Cut ${word} into ${before} and ${after}`)] : [];
      return [...cut, html("span", word.slice(from, to))];
    });
    const join = t + 1 < words.length ? [boundary(t, 0, `Join ${word} and ${words[t + 1]}`)] : [];
    return html("span.piece", html("span.letters", { dir: "auto", "data-letters": t }, letters), join);
  });
  sheet.replaceChildren(...pieces);
}

// Start and end of each character that a person sees, as JavaScript counts; Python counts code points.
/** @param {string} word */
function cutsOf(word) {
  const pieces = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(word)];
  return pieces.map(({ segment, index }) => [index, index + segment.length]);
}
