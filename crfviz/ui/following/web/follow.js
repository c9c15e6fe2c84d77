// Who follows: the lecturer's screen as it is now, on a page that asks for one event stream and nothing else.
//
// What the reader does with the picture stays here; from then on the lecturer's screens wait until the reader comes
// back. A line that a server refuses is asked for again, unless the room is gone. An answer counts once however often
// it is told.

import { button, hide, html, mark, setText } from "../../../views/stage/web/dom.js";
import { Stage } from "../../../views/stage/web/stage/lifecycle.js";
import { Answers } from "./answers.js";

const AGAIN = 2000; // milliseconds until a line that was refused is asked for once more
const PATIENCE = 10_000; // milliseconds until an answer counts as lost
const place = location.pathname.replace(/\/$/, "");
const code = location.pathname.split("/").filter(Boolean).at(-1).toUpperCase();

// A name for this browser in this room, and nowhere else.
function voterOf(room) {
  const key = `crfviz.follow.${room}`;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16)).join("");
  try {
    localStorage.setItem(key, localStorage.getItem(key) ?? made);
    return localStorage.getItem(key);
  } catch {
    return made; // storage is switched off: a reload is somebody else
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
    this.say = html("p.follow-say");
    this.question = html("section.follow-question", { "aria-label": "Question", hidden: "" });
    this.place = html("div");
    frame.replaceChildren(
      html("header.follow-head", this.title, this.state, this.back),
      this.say,
      this.question,
      this.place,
    );
    this.listen();
  }

  listen() {
    this.source = new EventSource(`${place}/screens`);
    this.source.onopen = () => this.told("");
    this.source.onmessage = ({ data }) => this.take(JSON.parse(data));
    this.source.onerror = () => {
      this.told("The connection is lost …");
      if (this.source.readyState === EventSource.CLOSED) this.listenAgain();
    };
    this.source.addEventListener("over", () => {
      this.source.close();
      this.told("The lecture has ended here.");
    });
  }

  // A browser asks again by itself where a connection broke, but not after an answer that is no event stream.
  async listenAgain() {
    const status = await fetch(location.pathname, { method: "HEAD" }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 404) this.told("This room does not exist or was closed. Ask for its code again.");
    else setTimeout(() => this.listen(), AGAIN);
  }

  told(text) {
    setText(this.state, text || `room ${code}`);
  }

  take(screen) {
    this.newest = screen;
    setText(this.title, screen.title || "crfviz");
    setText(this.say, screen.say ?? "");
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

  // The reader has done something to the picture.
  leave() {
    this.alone = true;
    hide(this.back, false);
    this.told("You look around on your own.");
  }

  comeBack() {
    this.alone = false;
    hide(this.back, true);
    this.told("");
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
      const made = button("", () => this.answer(id, number), { "data-choice": number });
      made.append(html("span", { dir: "auto" }, choice), ...[count].flat());
      made.disabled = !open;
      mark(made, "aria-pressed", String(this.answers.given.get(id) === number));
      if (number === right) made.dataset.right = "true";
      return made;
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
      signal: AbortSignal.timeout?.(PATIENCE),
    });
  }
}

new Follower(document.getElementById("follow"));
