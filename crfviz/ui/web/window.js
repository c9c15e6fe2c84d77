// Shared parts of the lecture windows: an overlay, the channel between the windows, and the cue on the screen.

import { html } from "../../views/stage/web/dom.js";

// An overlay over a window: a blank screen, or one line to type into.

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

// Messages between the two windows of a lecture. The lecture window sends its cue { at }. The speaker's window sends a
// pressed { key }, a cue to { go } to or a new { sentence }, and { where } to ask for the cue. How many followers have
// answered goes along as { turnout }.

const NAME = "crfviz.lecture";
export const TURNOUT = "crfviz-turnout"; // event of the document, with that text; empty without an open question

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
    send: (message) => between.postMessage({ lecture, ...message }),
    close: () => between.close(),
  };
}

// The cue whose picture is on the screen. The server reports it after the picture; the cue's text arrives earlier.

export const visible = { cue: 0, since: -Infinity }; // by the clock of events

export function behind() {
  return {
    receive({ there: cue }) {
      if (cue !== visible.cue) Object.assign(visible, { cue, since: performance.now() });
    },
    close() {},
  };
}
