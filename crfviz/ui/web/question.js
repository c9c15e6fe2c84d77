// A question with its choices. The browser shows the result at once and sends the answer to Python, which then shows
// the hidden numbers. Keys: 1 to 9 choose, H shows a hint, 0 skips, Q asks the next question; no picture uses these. In
// a lecture, advancing shows the answer first. While followers of a room answer, it shows how many have.

import { button, html, TEXT_FIELD } from "../../views/stage/web/dom.js";
import { mounted } from "../../views/stage/web/host.js";
import { Outbox } from "../../views/stage/web/outbox.js";
import { tableOf } from "./rows.js";
import { barsOf } from "./tally.js";
import { TURNOUT } from "./window.js";

const MAX_SENDS = 2; // of an answer; a busy Streamlit may lose the first
const POLL = 1000; // milliseconds between requests for the number of answers
const MAX_LENGTH = 80; // characters of a typed answer
const SKIPPED = "?";
const ANSWERED = "crfviz-answered";
const FORWARD = ["PageDown", "ArrowRight", " "];
const TYPING = `${TEXT_FIELD}, select`;
const OWN_DIGITS = "[data-cell], [data-table], [data-weight], [data-labeller], [data-editing]"; // use digits themselves

const MISTAKES = {
  "end score forgotten": "Forgetting the end score",
  "start forgotten": "Forgetting the start score",
  "transposed matrix": "Transposing the matrix",
  "max for sum": "Taking the maximum instead of the sum",
  "sum for max": "Taking the sum instead of the maximum",
  "emission added twice": "Adding the emission twice",
  "emission left out": "Leaving out the emission",
  "transitions forgotten": "Leaving out the transitions",
  "emission of another word": "Using the emission of another word",
};

export default mounted((parent) => new Question(parent));

class Question {
  constructor(parent) {
    this.root = html("section", { "data-question": "", "aria-label": "Question", tabindex: "-1" });
    this.status = html("p", { role: "status", "aria-live": "polite" });
    this.turnout = html("span", { "data-turnout": "" });
    parent.append(this.root);
    this.chosen = "";
    this.outbox = new Outbox(() => this.send("answer", this.chosen), MAX_SENDS);
    this.onKey = (event) => this.key(event);
    addEventListener("keydown", this.onKey, true);
  }

  close() {
    this.outbox.close();
    this.send = null;
    this.tell("");
    clearTimeout(this.timer);
    removeEventListener("keydown", this.onKey, true);
  }

  receive(data, send) {
    const same = this.data?.id === data.id && JSON.stringify(this.data.choices) === JSON.stringify(data.choices);
    this.data = data;
    this.send = send;
    if (!same || data.said) this.outbox.acknowledge(this.outbox.sequence);
    if (!same) {
      this.chosen = data.said;
      this.tell("");
      this.build();
    } else if (data.said && data.said !== this.chosen) this.show(data.said);
    this.count(data.tally);
    this.poll();
  }

  // Shows how many followers gave each answer.
  count(tally) {
    this.root.classList.toggle("tallied", Boolean(tally));
    this.choices.forEach((each, i) => {
      each.querySelector(".bars")?.remove();
      if (tally) each.append(barsOf(i, tally.counts, tally.before));
    });
  }

  // Shows how many followers have answered, until the answer is on the screen.
  async poll() {
    clearTimeout(this.timer);
    const { turnout } = this.data;
    if (!turnout || this.chosen) return this.tell("");
    const now = await fetch(turnout.path).then(
      (answer) => (answer.ok ? answer.json() : null),
      () => null,
    );
    if (!this.send || this.chosen || this.data.turnout?.question !== turnout.question) return;
    if (now?.question === turnout.question) this.tell(`${now.answered} of ${now.followers} answered`);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.poll(), POLL);
  }

  // Shows a text about the answers here and, by ./bar.js, in the speaker's window.
  tell(text) {
    if (this.turnout.textContent === text) return;
    this.turnout.textContent = text;
    document.dispatchEvent(new CustomEvent(TURNOUT, { detail: text }));
  }

  build() {
    const { data } = this;
    this.choices = data.choices.map(({ text }, i) =>
      button([html("kbd", i + 1), " ", html("span", { dir: "auto" }, text)], () => this.answer(text), {
        "data-choice": i,
      }),
    );
    const take = ({ key }) => key === "Enter" && this.typed(this.input.value);
    const placeholder = data.typed ? `type a ${data.typed === "number" ? "number" : "short text"}` : "or type it";
    this.input = html("input", { "aria-label": "Type the answer", placeholder, onkeydown: take });
    const plain = (name, key, act) => button(`${name} (${key})`, act, { class: "plain", title: `key ${key}` });
    const hint = data.hint ? [plain("Hint", "H", () => this.hint())] : [];
    this.open = [this.input, ...hint, plain("Show me", "0", () => this.answer(SKIPPED))];
    this.next = plain("Next question", "Q", () => this.send("next", true));
    this.status.replaceChildren();
    this.root.replaceChildren(
      html("p.asked", data.text, this.turnout),
      ...(data.operands?.length ? [tableOf(data.operands, { "data-operands": "" })] : []),
      html("div.answers", this.choices, this.open, this.next),
      this.status,
    );
    this.next.hidden = true;
    this.root.classList.toggle("of-cue", data.ofCue);
    this.root.removeAttribute("data-answered");
    if (this.chosen) this.show(this.chosen);
  }

  hint() {
    this.report([`Hint: ${this.data.hint}`]);
  }

  typed(text) {
    if (this.data.typed) return this.typedFreely(text.trim());
    const choice = this.data.choices.find(({ text: offered }) => plainly(offered) === plainly(text));
    if (choice) this.answer(choice.text);
    else if (text.trim()) this.report([`“${text.trim().slice(0, 40)}” is none of the answers here.`]);
  }

  typedFreely(text) {
    const number = Number(text.replaceAll("−", "-").replaceAll(",", "."));
    if (this.data.typed === "number" && text && Number.isNaN(number)) this.report([`“${text}” is not a number.`]);
    else if (text) this.answer(text.slice(0, MAX_LENGTH));
  }

  answer(text) {
    if (this.chosen) return;
    const focused = this.root.getRootNode().activeElement;
    this.show(text);
    if (focused && focused !== this.root) this.root.focus();
    document.dispatchEvent(new Event(ANSWERED)); // the picture shows the answer at once
    this.outbox.post({});
  }

  // Shows the right answer and, for a wrong one, the mistake that leads to it.
  show(chosen) {
    const { choices, right, answer, why } = this.data;
    this.chosen = chosen;
    this.root.setAttribute("data-answered", "");
    for (const each of this.open) each.hidden = true;
    this.next.hidden = this.data.ofCue;
    this.choices.forEach((each, i) => {
      each.disabled = true;
      each.querySelector("kbd")?.remove(); // it would look like a number of answers
      if (i === right) each.setAttribute("data-right", "true");
      else if (choices[i].text === chosen) each.setAttribute("data-wrong", "true");
    });
    const wrong = choices.find(({ text, mistake }) => mistake && text === chosen);
    const lead = plainly(chosen) === plainly(answer) ? "Right" : "The answer";
    const lines = answer ? [`${lead}: ${answer}${/[.!?]$/.test(answer) ? "" : "."} ${why}`.trim()] : [];
    if (!answer && !choices.length && chosen !== SKIPPED) lines.push(`Your answer: ${chosen}`);
    if (wrong) lines.push(`${MISTAKES[wrong.mistake] ?? `“${wrong.mistake}”`} gives ${wrong.text}. ${wrong.why}`);
    this.report(lines);
  }

  report(lines) {
    this.status.replaceChildren(...lines.flatMap((line, i) => (i ? [html("br"), line] : [line])));
  }

  key(event) {
    const { key, altKey, ctrlKey, metaKey, shiftKey, repeat } = event;
    const inside = event.composedPath()[0];
    if (altKey || ctrlKey || metaKey || shiftKey || event.defaultPrevented || !this.data) return;
    if (inside.matches?.(TYPING) || inside.closest?.(OWN_DIGITS) || (key === " " && inside.matches?.("button"))) return;
    if (!this.data.letters && key.length === 1 && key !== " ") return; // the reader disabled letter keys
    const act = this.chosen ? this.after(key) : this.before(key);
    if (!act || (repeat && !FORWARD.includes(key))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }

  before(key) {
    const choice = /^[1-9]$/.test(key) && this.data.choices[Number(key) - 1];
    if (choice) return () => this.answer(choice.text);
    if (key === "0" || (this.data.ofCue && FORWARD.includes(key))) return () => this.answer(SKIPPED);
    return key.toLowerCase() === "h" && this.data.hint ? () => this.hint() : null;
  }

  after(key) {
    return key.toLowerCase() === "q" && !this.data.ofCue ? () => this.send("next", true) : null;
  }
}

// Normalises a typed answer: case, blanks, the true minus and the decimal comma make no difference.
function plainly(text) {
  return text.trim().toLowerCase().replaceAll("−", "-").replaceAll(",", ".").replace(/\s+/g, " ");
}
