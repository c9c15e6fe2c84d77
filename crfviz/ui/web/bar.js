// On the wall: what is said, the number of the cue, and the keys. Those that walk belong to the picture while there is
// one: what arrives here is what it left.

import { channel } from "./channel.js";
import { element } from "./elements.js";
import { overlay } from "./over.js";

const WALK = { PageDown: 1, ArrowRight: 1, " ": 1, PageUp: -1, ArrowLeft: -1 };
const LEAVE = 0;
const LEAVING = "crfviz-leaving"; // the picture tells its newest step then, see crfviz/views/stage/web/host.js
const PATIENCE = 3000; // milliseconds until what nothing came of is told once more: a busy Streamlit may lose it
const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable]";

export function bar(root) {
  let data = null;
  let send = () => {};
  const say = element("p", "say");
  const number = element("span", "number");
  const line = element("div", "cue", say, number);
  line.setAttribute("role", "status");
  root.append(line);
  const over = overlay(root);

  let timer = null;
  const tell = (name, value) => {
    clearTimeout(timer);
    send(name, value);
    timer = setTimeout(() => send(name, value), PATIENCE);
  };
  // In one message with what the picture tells then: of two that come close together Streamlit may lose the first.
  const go = (to) => {
    document.dispatchEvent(new Event(LEAVING));
    tell("go", to);
  };
  const press = (key) => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  };
  const sentence = (text) => tell("sentence", text);
  // Of the speaker's window: the key that was pressed there, what was typed, or only where the wall is.
  const between = channel(({ key, go: to, sentence: text, where }) => {
    if (where && data) between.tell({ at: data.cue });
    if (key) press(key);
    if (to) go(to);
    if (text !== undefined) sentence(text);
  });

  const keys = {
    b: over.darken,
    g: () => over.askCue(data.cues, go),
    t: () => over.ask("Sentence", data.sentence, "", sentence),
  };

  const onKey = (event) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (event.defaultPrevented || altKey || ctrlKey || metaKey || !data) return;
    if (event.composedPath()[0].matches?.(TYPING)) return;
    const steps = event.repeat ? 0 : (WALK[key] ?? 0);
    const to = Math.max(1, Math.min(data.cue + steps, data.cues));
    if (key !== "Escape" && to === data.cue) return;
    event.preventDefault();
    go(key === "Escape" ? LEAVE : to);
  };
  // Before the picture, which has letters of its own: while the wall is dark any key brings the light back.
  const onFirst = (event) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    const dark = over.dark();
    const typing = event.composedPath()[0].matches?.(TYPING);
    const meant = data?.letters && !over.covered() && !typing && key.toLowerCase() in keys;
    if (altKey || ctrlKey || metaKey || !(dark || meant)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (dark) over.uncover();
    else keys[key.toLowerCase()]();
  };
  addEventListener("keydown", onFirst, true);
  document.addEventListener("keydown", onKey);

  return {
    receive(payload, trigger) {
      if (payload.cue !== data?.cue || payload.sentence !== data.sentence) clearTimeout(timer);
      data = payload;
      send = trigger;
      say.textContent = data.say;
      line.classList.toggle("asks", data.asks);
      number.textContent = `${data.cue} / ${data.cues}`;
      Object.assign(line.dataset, { cue: data.cue, cues: data.cues });
      between.of(data.lecture);
      between.tell({ at: data.cue });
    },
    close() {
      clearTimeout(timer);
      removeEventListener("keydown", onFirst, true);
      document.removeEventListener("keydown", onKey);
      between.close();
    },
  };
}
