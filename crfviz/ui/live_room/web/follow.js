// The follower's page: the speaker's current screen, from one event stream.
//
// After the reader has changed the picture, new screens wait for the button "Back to the lecture". A refused connection
// is retried, unless the room is closed. An answer counts once, however often it is sent.

import { button, hide, html, mark, setText } from "../../../views/stage/web/dom.js";
import { Stage } from "../../../views/stage/web/stage/lifecycle.js";
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
    if (!question) return;
    const { id, text, choices, right, why, tally } = question;
    const open = right === null;
    const buttons = choices.map((choice, number) => {
      const count = tally ? html("span", { "data-count": tally[number] }, `${tally[number]}`) : [];
      const option = button("", () => this.answer(id, number), { "data-choice": number });
      option.append(html("span", { dir: "auto" }, choice), ...[count].flat());
      option.disabled = !open;
      mark(option, "aria-pressed", String(this.answers.choices.get(id) === number));
      if (number === right) option.dataset.right = "true";
      return option;
    });
    this.question.dataset.question = id;
    this.question.replaceChildren(
      html("p", text),
      html("div.follow-choices", buttons),
      html("p", { role: "status" }, open ? "" : `${choices[right]}: ${why}`),
    );
  }

  answer(id, choice) {
    for (const each of this.question.querySelectorAll("[data-choice]"))
      mark(each, "aria-pressed", String(Number(each.dataset.choice) === choice));
    this.answers.give(id, choice);
  }

  post(question, choice) {
    return fetch(`${place}/answers`, {
      method: "POST",
      body: JSON.stringify({ question, voter: this.voter, choice }),
      signal: AbortSignal.timeout?.(ANSWER_TIMEOUT),
    });
  }
}

new Follower(document.getElementById("follow"));
