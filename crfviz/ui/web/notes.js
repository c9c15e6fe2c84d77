// The speaker's window: current and next text, the time against the plan, and the keys of the lecture window. Step keys
// are sent to that window, which has the picture; without one they move through the notes.

import { button, html } from "../../views/stage/web/dom.js";
import { channel, overlay } from "./window.js";

const WALK = { PageDown: 1, ArrowRight: 1, " ": 1, PageUp: -1, ArrowLeft: -1 };
const OF_WALL = [...Object.keys(WALK), "Home", "End", "Escape"];
const SECOND = 1000; // milliseconds

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

export function notes(root) {
  let data = null;
  let at = 1;
  let wall = false; // whether a lecture window is open
  const began = performance.now();
  const heading = html("h2");
  const now = html("p.now");
  const next = html("p.next");
  const clock = html("p.clock");
  const turnout = html("p", { "data-turnout": "" });
  const turns = [button("Back", () => go(at - 1)), button("Next", () => go(at + 1))];
  const view = html("div.speaker", heading, now, turnout, next, clock, html("div", turns));
  root.append(view);
  const over = overlay(root);

  const between = channel(({ at: cue, turnout: text }) => {
    if (text !== undefined) turnout.textContent = text;
    if (!cue) return;
    wall = true;
    show(cue);
  });
  const go = (to) => {
    if (to < 1 || to > data.cues) return;
    show(to);
    between.send({ go: to });
  };
  const show = (number) => {
    if (number !== at) turnout.textContent = ""; // of the cue that is left
    at = number;
    const { say, page } = data.notes[at - 1];
    const after = data.notes[at];
    heading.textContent = `${data.title} · ${page} · ${at} / ${data.cues}`;
    now.textContent = say;
    next.textContent = after ? `Next, ${after.page}: ${after.say}` : "This is the last cue.";
    Object.assign(view.dataset, { cue: at, cues: data.cues });
    tick();
  };
  const tick = () => {
    if (!data) return;
    const spent = (performance.now() - began) / SECOND;
    const planned = (60 * data.minutes * (at - 1)) / data.cues;
    clock.textContent = `${minutes(spent)} of ${data.minutes} minutes; this cue is planned at ${minutes(planned)}`;
  };
  const timer = setInterval(tick, SECOND);
  const letters = {
    b: () => between.send({ key: "b" }),
    j: () => between.send({ key: "j" }),
    g: () => over.askCue(data.cues, go),
    t: () => over.ask("Sentence", "", "", (text) => between.send({ sentence: text })),
  };
  const onKey = (event) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey || over.covered() || !data) return;
    const letter = data.letters && letters[key.toLowerCase()];
    if (!letter && !OF_WALL.includes(key)) return;
    event.preventDefault();
    if (letter) letter();
    else if (wall) between.send({ key });
    else if (!event.repeat) go(at + (WALK[key] ?? 0));
  };
  document.addEventListener("keydown", onKey);

  return {
    receive(payload) {
      data = payload;
      between.of(data.lecture);
      show(Math.min(data.cue, data.cues));
      between.send({ where: true });
    },
    close() {
      clearInterval(timer);
      document.removeEventListener("keydown", onKey);
      between.close();
    },
  };
}
