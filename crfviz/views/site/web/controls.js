// The controls above the pages: a box for a sentence with messages, a menu of models, and one of examples.

import { flag, html, set, setText } from "../../stage/web/dom.js";

const HINT = "Examples";

// `speak(typed)` is called with the text of the box; `before` and `behind` are in the same line. The text stays until a
// sentence is shown.
export function buildBox(speak, before = [], behind = []) {
  const input = html("input", {
    type: "text",
    dir: "auto",
    "aria-label": "Sentence",
    autocomplete: "off",
    spellcheck: "false",
  });
  const status = html("p.said", { role: "status" });
  const submit = (event) => {
    event.preventDefault();
    speak(input.value);
  };
  const tag = html("button", { type: "submit" }, "Tag");
  const form = html("form.asked", { onsubmit: submit }, before, input, tag, behind);
  let shown = null;
  return {
    element: html("div.box", form, status),
    show(sentence) {
      if (sentence !== shown) input.value = sentence;
      shown = sentence;
    },
    notify(text, problem = false) {
      setText(status, text);
      flag(status, { problem });
    },
  };
}

export function buildPicker(models, choose) {
  const options = models.map(({ name }) => html("option", { value: name }, name));
  const picker = html("select", { "aria-label": "Model" }, options);
  picker.addEventListener("change", () => choose(picker.value));
  return picker;
}

// `choose` is called with a model, a sentence and an example.
export function buildExamples(models, choose) {
  const element = html("select.examples", { "aria-label": "Examples" });
  let listed = []; // { model, example } in the order of the options
  element.addEventListener("change", () => {
    const chosen = listed[element.value];
    if (chosen) choose(chosen.model, chosen.example.text, chosen.example.claim);
  });
  return {
    element,
    // As in the app: all examples of the chosen model, and the first of each other model.
    show(model, sentence) {
      if (element.dataset.model !== model) {
        set(element, "data-model", model);
        listed = gallery(models, model);
        const options = listed.map((each, i) => html("option", { value: i }, labelled(each, model)));
        element.replaceChildren(html("option", { value: "" }, HINT), ...options);
      }
      const at = listed.findIndex((each) => each.model === model && each.example.text === sentence);
      element.value = at < 0 ? "" : String(at);
    },
  };
}

function gallery(models, chosen) {
  const own = ({ name }) => name === chosen;
  return [...models.filter(own), ...models.filter((each) => !own(each))].flatMap(({ name, examples }) =>
    (name === chosen ? examples : examples.slice(0, 1)).map((example) => ({ model: name, example })),
  );
}

function labelled({ model, example }, chosen) {
  return `${model === chosen ? "" : `${model}: `}${example.text} – ${example.claim}`;
}
