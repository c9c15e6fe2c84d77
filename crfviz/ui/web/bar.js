// On the wall: what is said, the number of the cue, and the keys. Those that walk belong to the picture while there is
// one: what arrives here is what it left.

import { channel } from "./channel.js";
import { element } from "./elements.js";

const WALK = { PageDown: 1, ArrowRight: 1, " ": 1, PageUp: -1, ArrowLeft: -1 };
const LEAVE = 0;
const PATIENCE = 3000; // milliseconds until what nothing came of is told once more: a busy Streamlit may lose it
const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable]";

export function bar(root) {
  let data = null;
  let send = () => {};
  let over = null;
  const say = element("p", "say");
  const number = element("span", "number");
  const line = element("div", "cue", say, number);
  line.setAttribute("role", "status");
  root.append(line);

  let timer = null;
  const tell = (name, value) => {
    clearTimeout(timer);
    send(name, value);
    timer = setTimeout(() => send(name, value), PATIENCE);
  };
  const go = (to) => tell("go", to);
  const between = channel(({ go: to }) => {
    if (to) go(to);
  });

  const cover = (kind, ...inside) => {
    over?.remove();
    over = element("div", `over ${kind}`, ...inside);
    root.append(over);
    return over;
  };
  const uncover = () => {
    over?.remove();
    over = null;
  };
  // One line to type into: Enter takes it, Escape leaves it.
  const ask = (label, value, kind, take) => {
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
  };

  const keys = {
    b: () => cover("blank"),
    g: () =>
      ask(`Cue, 1 to ${data.cues}`, "", "short", (text) => {
        if (Number(text) >= 1) go(Math.min(Math.trunc(Number(text)), data.cues));
      }),
    t: () => ask("Sentence", data.sentence, "", (text) => tell("sentence", text)),
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
    const dark = over?.matches(".blank");
    const typing = event.composedPath()[0].matches?.(TYPING);
    const meant = data?.letters && !over && !typing && key.toLowerCase() in keys;
    if (altKey || ctrlKey || metaKey || !(dark || meant)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (dark) uncover();
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
