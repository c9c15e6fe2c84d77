// What the windows of a lecture are made of: what lies over a window, the channel between two of them, and the
// cue that is on the screen.

import { html } from "../../views/stage/web/dom.js";

// What lies over a window of a lecture for a while: darkness, or one line to type into.

export function overlay(root) {
  let over = null;
  const uncover = () => {
    over?.remove();
    over = null;
  };
  const cover = (kind, ...inside) => {
    uncover();
    over = html(`div.over.${kind}`, ...inside);
    root.append(over);
  };
  return {
    uncover,
    covered: () => Boolean(over),
    dark: () => Boolean(over?.matches(".blank")),
    darken: () => cover("blank"),
    // One line to type into: Enter takes it, Escape leaves it.
    ask(label, value, kind, take) {
      const input = html("input", { class: kind, "aria-label": label });
      input.value = value;
      cover("asking", html("label", `${label} `, input));
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

// What the two windows of one lecture tell each other: the wall { at } which cue it is; the speaker's window { key }
// what was pressed there, { go } which cue or { sentence } which words are wanted, and { where } to ask for the cue.

const NAME = "crfviz.lecture";

export function channel(listen) {
  const between = new BroadcastChannel(NAME);
  let lecture = null;
  between.onmessage = ({ data }) => {
    if (data.lecture === lecture) listen(data);
  };
  return {
    of(name) {
      lecture = name;
    },
    tell: (message) => between.postMessage({ lecture, ...message }),
    close: () => between.close(),
  };
}

// Which cue has its picture on the screen. The server says so behind that: what is said at the cue is there before.

export const there = { cue: 0, since: -Infinity }; // by the clock of events

export function behind() {
  return {
    receive({ there: cue }) {
      if (cue !== there.cue) Object.assign(there, { cue, since: performance.now() });
    },
    close() {},
  };
}
