// The box for a sentence, and what there is to say about what was typed.

import { flag, html, setText } from "../../stage/web/dom.js";

// `speak(typed)` is called with what is in the box; `before` and `behind` stand in the same line. What is typed stays
// until a sentence is shown.
export function buildBox(speak, before = [], behind = []) {
  const input = html("input", { type: "text", "aria-label": "Sentence", autocomplete: "off", spellcheck: "false" });
  const said = html("p.said", { role: "status" });
  const submit = (event) => {
    event.preventDefault();
    speak(input.value);
  };
  const tag = html("button", { type: "submit" }, "Tag");
  const form = html("form.asked", { onsubmit: submit }, before, input, tag, behind);
  let shown = null;
  return {
    element: html("div.box", form, said),
    show(sentence) {
      if (sentence !== shown) input.value = sentence;
      shown = sentence;
    },
    say(text, problem = false) {
      setText(said, text);
      flag(said, { problem });
    },
  };
}
