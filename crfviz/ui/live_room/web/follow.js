// The follower's page: the speaker's current screen, from one event stream.
//
// After the reader has changed the picture, new screens wait for the button "Back to the lecture". A refused connection
// is retried, unless the room is closed. An answer counts once, however often it is sent.

import { button, hide, html, mark, setText } from "../../../views/stage/web/dom.js";
import { Stage } from "../../../views/stage/web/stage/lifecycle.js";
import { barsOf } from "../../web/tally.js";
import { Answers } from "./answers.js";

const RETRY_DELAY = 2000; // milliseconds until a refused connection is tried again
const ANSWER_TIMEOUT = 10_000; // milliseconds
const place = location.pathname.replace(/\/$/, "");
const code = location.pathname.split("/").filter(Boolean).at(-1).toUpperCase();

// A random name for this browser in this room.
function voterOf(room) {
  const key = `crfviz.follow.${room}`;
  const fresh = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  try {
    localStorage.setItem(key, localStorage.getItem(key) ?? fresh);
    return localStorage.getItem(key);
  } catch {
    return fresh; // without storage, a reload is another voter
  }
}

class Follower {
  constructor(frame) {
    this.voter = voterOf(code);
    this.answers = new Answers(
      (question, choice) => this.post(question, choice),
      (text) => setText(this.question.querySelector("[role=status]"), text),
    );
    this.title = html("h1", "crfviz");
    this.state = html("span.follow-state", { role: "status" }, "Looking for the room …");
    this.back = button("Back to the lecture", () => this.comeBack(), { hidden: "" });
    this.text = html("p.follow-say");
    this.question = html("section.follow-question", { "aria-label": "Question", hidden: "" });
    this.place = html("div");
    frame.replaceChildren(
      html("header.follow-head", this.title, this.state, this.back),
      this.text,
      this.question,
      this.place,
    );
    this.listen();
  }

  listen() {
    this.source = new EventSource(`${place}/screens`);
    this.source.onopen = () => this.showState("");
    this.source.onmessage = ({ data }) => this.receive(JSON.parse(data));
    this.source.onerror = () => {
      this.showState("Connection lost. Reconnecting …");
      if (this.source.readyState === EventSource.CLOSED) this.listenAgain();
    };
    this.source.addEventListener("over", () => {
      this.source.close();
      this.showState("The speaker closed this room.");
    });
  }

  // The browser reconnects after a lost connection, but not after a response that is not an event stream.
  async listenAgain() {
    const status = await fetch(location.pathname, { method: "HEAD" }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 404) this.showState("This room does not exist or was closed. Ask for its code again.");
    else setTimeout(() => this.listen(), RETRY_DELAY);
  }

  showState(text) {
    setText(this.state, text || `room ${code}`);
  }

  receive(screen) {
    this.newest = screen;
    setText(this.title, screen.title || "crfviz");
    setText(this.text, screen.say ?? "");
    this.ask(screen.question);
    if (!this.alone) this.draw();
  }

  draw() {
    const { stage: payload } = this.newest;
    hide(this.place, !payload);
    if (!payload) return;
    this.stage ??= new Stage(this.place, () => this.leave(), { keys: document });
    this.stage.receive(payload);
  }

  // The reader has changed the picture.
  leave() {
    this.alone = true;
    hide(this.back, false);
    this.showState("You are exploring on your own.");
  }

  comeBack() {
    this.alone = false;
    hide(this.back, true);
    this.showState("");
    this.stage?.close();
    this.stage = null;
    this.place.replaceChildren();
    this.draw();
  }

  ask(question) {
    hide(this.question, !question);
    const asked = JSON.stringify(question);
    if (!question || asked === this.asked) return; // a redraw would take the focus from the text field
    this.asked = asked;
    const { id, text, choices, typed, open, right, answer, why, tally, before } = question;
    const buttons = choices.map((choice, number) => {
      const option = button("", () => this.answer(id, number), { "data-choice": number });
      option.append(html("span", { dir: "auto" }, choice), ...(tally ? [barsOf(number, tally, before)] : []));
      option.disabled = !open;
      mark(option, "aria-pressed", String(this.answers.choices.get(id) === number));
      if (number === right) option.dataset.right = "true";
      return option;
    });
    this.question.dataset.question = id;
    this.question.replaceChildren(
      html("p", text),
      html("div.follow-choices", buttons, typed && open ? this.field(id, typed) : []),
      html("p", { role: "status" }, open || !answer ? "" : `The answer: ${answer}. ${why}`),
    );
  }

  // A field for a typed answer, and the button that sends it.
  field(id, typed) {
    const name = typed === "number" ? "Your answer, a number" : "Your answer";
    const attributes = { "aria-label": name, placeholder: name, maxlength: 80, enterkeyhint: "send" };
    const input = html("input", { ...attributes, inputmode: typed === "number" ? "decimal" : "text" });
    const sent = this.answers.choices.get(id);
    if (sent !== undefined) input.value = sent;
    const send = () => {
      const text = input.value.trim();
      const number = Number(text.replaceAll("−", "-").replaceAll(",", "."));
      const status = this.question.querySelector("[role=status]");
      if (typed === "number" && (!text || Number.isNaN(number))) setText(status, "Type a number, such as 12 or 0.5.");
      else if (text) this.answers.give(id, text);
    };
    input.addEventListener("keydown", ({ key }) => key === "Enter" && send());
    return [input, button("Send", send)];
  }

  answer(id, choice) {
    for (const each of this.question.querySelectorAll("[data-choice]"))
      mark(each, "aria-pressed", String(Number(each.dataset.choice) === choice));
    this.answers.give(id, choice);
  }

  post(question, choice) {
    const given = typeof choice === "string" ? { choice: 0, text: choice } : { choice };
    return fetch(`${place}/answers`, {
      method: "POST",
      body: JSON.stringify({ question, voter: this.voter, ...given }),
      signal: AbortSignal.timeout?.(ANSWER_TIMEOUT),
    });
  }
}

new Follower(document.getElementById("follow"));
