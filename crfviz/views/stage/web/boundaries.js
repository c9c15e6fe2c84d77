// The words of a sentence as letters, with every place where a word can be cut or two can be joined.

import { html, mark } from "./dom.js";

export function drawBoundaries(sheet, data, caret, onChange) {
  let number = -1;
  const boundary = (of, at, label) => {
    number += 1;
    const own = number;
    const made = html("button", { type: "button", class: at ? "cut" : "join", "data-boundary": own, "data-of": of, "data-at": at, tabindex: own === caret ? "0" : "-1", title: label, "aria-label": label });
    mark(made, "data-caret", own === caret);
    made.addEventListener("click", () => onChange(own));
    return made;
  };
  const words = data.words.map((word, t) => {
    const letters = cutsOf(word).flatMap(([from, to], n) => [
      ...(n ? [boundary(t, [...word.slice(0, from)].length, `Cut ${word} into ${word.slice(0, from)} and ${word.slice(from)}`)] : []),
      html("span", { text: word.slice(from, to) }),
    ]);
    const parts = [html("span", { class: "letters", dir: "auto", "data-letters": t }, letters)];
    if (t + 1 < data.words.length) parts.push(boundary(t, 0, `Join ${word} and ${data.words[t + 1]}`));
    return html("span", { class: "piece" }, parts);
  });
  sheet.replaceChildren(...words);
}

// Start and end of each character that a person sees, as JavaScript counts; Python counts code points.
function cutsOf(word) {
  const pieces = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(word)];
  return pieces.map(({ segment, index }) => [index, index + segment.length]);
}
