// What lies over a window of a lecture for a while: darkness, or one line to type into.

import { element } from "./elements.js";

export function overlay(root) {
  let over = null;
  const uncover = () => {
    over?.remove();
    over = null;
  };
  const cover = (kind, ...inside) => {
    uncover();
    over = element("div", `over ${kind}`, ...inside);
    root.append(over);
  };
  return {
    uncover,
    covered: () => Boolean(over),
    dark: () => Boolean(over?.matches(".blank")),
    darken: () => cover("blank"),
    // One line to type into: Enter takes it, Escape leaves it.
    ask(label, value, kind, take) {
      const input = element("input", kind);
      input.value = value;
      input.setAttribute("aria-label", label);
      cover("asking", element("label", "", `${label} `, input));
      input.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") take(input.value);
        if (event.key === "Enter" || event.key === "Escape") uncover();
      });
      input.focus();
      input.select();
    },
    // The number of a cue, of so many.
    askCue(cues, take) {
      this.ask(`Cue, 1 to ${cues}`, "", "short", (text) => {
        if (Number(text) >= 1) take(Math.min(Math.trunc(Number(text)), cues));
      });
    },
  };
}
