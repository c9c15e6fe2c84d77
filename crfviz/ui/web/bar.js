// The lecture window: the cue's text and number, and the keys. The picture handles step keys first; this module gets
// those that the picture does not use. Only this module changes the cue, and by number: a key that is pressed again
// while a cue loads requests the same cue. A key that arrives before the cue's picture can have been seen is dropped.
// If it were queued, it would skip a cue that nobody saw.

import { html, TEXT_FIELD } from "../../views/stage/web/dom.js";
import { ACKNOWLEDGE_TIMEOUT, Outbox } from "../../views/stage/web/outbox.js";
import { showLarge } from "./join.js";
import { channel, overlay, TURNOUT, visible } from "./window.js";

const WALK = { PageDown: 1, ArrowRight: 1, " ": 1, PageUp: -1, ArrowLeft: -1 };
const LEAVE = 0;
const LEAVING = "crfviz-leaving"; // the picture then sends its newest step, see crfviz/views/stage/web/host.js
const TURNS = "crfviz-turns"; // a key led beyond the picture's steps, see crfviz/views/stage/web/stage.js
const MAX_SENDS = 2; // of a message; a busy Streamlit may lose the first
const GLANCE = 100; // milliseconds; people react to a new picture later

const LAST = "This is the last cue. Press Esc to leave, or G to go to another cue.";
const LAST_WITHOUT_LETTERS = "This is the last cue. Press Esc to leave.";

export function bar(root) {
  let data = null;
  let send = () => {};
  const text = html("p.say");
  const joining = html("span.join");
  const number = html("span");
  const edits = html("p.edits");
  const line = html("div.cue", { role: "status" }, text, html("span.number", number, joining));
  root.append(line, edits);
  const over = overlay(root);
  const end = html("p.end", { role: "status" });
  root.append(end);

  const outbox = new Outbox((events) => {
    const { name, value } = events.at(-1);
    send(name, value);
  }, MAX_SENDS);
  const post = (name, value) => outbox.post({ name, value }); // of several messages only the last counts
  // In the same message as the picture's step: of two messages in quick succession Streamlit may lose the first.
  let requested = null; // the requested cue, and the time of the request
  const go = (to, name = "go") => {
    requested = { cue: [to].flat()[0], since: performance.now() };
    document.dispatchEvent(new Event(LEAVING));
    post(name, to);
  };
  const turn = (by) => {
    const to = Math.max(1, Math.min(data.cue + by, data.cues));
    if (to !== data.cue) go([to, by < 0 ? "previous" : "next"], "turn");
    else if (by > 0) end.textContent = data.letters ? LAST : LAST_WITHOUT_LETTERS;
  };
  const press = (key) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  // The large display of the room, which is opened first if there is none.
  let large = null; // closes the display
  let wanted = false;
  const showJoin = () => {
    if (!data.join) send("join", true);
    wanted = !data.join;
    if (!data.join) return;
    large = showLarge(data.join, () => {
      large = null;
    });
  };
  const sentence = (text) => post("sentence", text);
  let turnout = ""; // how many have answered
  const onTurnout = ({ detail }) => {
    turnout = detail;
    between.send({ turnout });
  };
  // Handles the speaker's window: a pressed key, a typed sentence, or a request for the cue.
  const between = channel(({ key, go: to, sentence: text, where }) => {
    if (where && data) between.send({ at: data.cue, turnout });
    if (key) press(key);
    if (to) go(to);
    if (text !== undefined) sentence(text);
  });

  const keys = {
    b: over.darken,
    j: showJoin,
    g: () => over.askCue(data.cues, go),
    t: () => over.ask("Sentence", data.sentence, "", sentence),
  };

  const onKey = (event) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (event.defaultPrevented || altKey || ctrlKey || metaKey || !data) return;
    if (event.composedPath()[0].matches?.(TEXT_FIELD)) return;
    if (key !== "Escape" && !(key in WALK)) return;
    event.preventDefault();
    if (key === "Escape") go(LEAVE);
    else if (!event.repeat) turn(WALK[key]);
  };
  const onTurns = (event) => {
    event.preventDefault();
    if (data) turn(event.detail === "previous" ? -1 : 1);
  };
  // Runs before the keys of question and picture: while the screen is blank any key shows it again.
  const onFirst = (event) => {
    const { key, altKey, ctrlKey, metaKey, timeStamp } = event;
    if (altKey || ctrlKey || metaKey || !data) return;
    end.textContent = ""; // empty until a key goes beyond the last cue again
    const dark = over.dark() || large;
    const meant = !over.covered() && !event.composedPath()[0].matches?.(TEXT_FIELD);
    const letter = meant && data.letters && keys[key.toLowerCase()];
    const comes = requested?.cue && visible.cue !== requested.cue && timeStamp - requested.since < ACKNOWLEDGE_TIMEOUT;
    const unseen = comes || visible.cue !== data.cue || timeStamp - visible.since < GLANCE;
    if (!(dark || letter || (meant && unseen && key in WALK))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (large) large();
    else if (dark) over.uncover();
    else if (letter) letter();
  };
  addEventListener("keydown", onFirst, true);
  document.addEventListener("keydown", onKey);
  document.addEventListener(TURNS, onTurns);
  document.addEventListener(TURNOUT, onTurnout);

  return {
    receive(payload, trigger) {
      if (payload.cue !== data?.cue || payload.sentence !== data.sentence) outbox.acknowledge(outbox.sequence);
      data = payload;
      send = trigger;
      text.textContent = data.say;
      edits.textContent = data.edits;
      line.classList.toggle("asks", data.asks);
      number.textContent = `${data.cue} / ${data.cues}`;
      joining.textContent = data.join ? `${data.join.address} · ${data.join.code}` : "";
      if (wanted && data.join) showJoin();
      Object.assign(line.dataset, { cue: data.cue, cues: data.cues });
      between.of(data.lecture);
      between.send({ at: data.cue });
    },
    close() {
      outbox.close();
      removeEventListener("keydown", onFirst, true);
      document.removeEventListener("keydown", onKey);
      document.removeEventListener(TURNS, onTurns);
      document.removeEventListener(TURNOUT, onTurnout);
      between.close();
    },
  };
}
