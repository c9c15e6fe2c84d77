// A question of an exercise: cells are chosen on the lattice below, numbers are typed here. Python grades; an answer
// sends all answers so far, so sending it twice changes nothing. Keys: arrows move on the lattice, Enter chooses a cell
// or submits.

import { button, html, TEXT_FIELD } from "../../views/stage/web/dom.js";
import { mounted } from "../../views/stage/web/host.js";
import { Outbox } from "../../views/stage/web/outbox.js";
import { tableOf } from "./rows.js";

const BETWEEN = ";";
const NOT_TYPED = /[;\p{C}\p{Z}]+/gu; // in the link, answers are separated by semicolons and have plain blanks
const LONGEST = 40; // characters of a number
const SHOW_ME = "?";
const NOTHING = "none"; // the answer “no cell is needed”
const NO_ROOM = "The link has no room for more answers. Choose “New numbers”.";
const OFTEN = { value: "Submit", read: "Submit these cells" };
const HINTS = {
  write: "Click the cell, or move there with the arrow keys and press Enter.",
  read: "Click all cells, then submit. At the edge there may be none.",
  pointer: "Click the cell of the word before.",
  path: "Click the cell of the word.",
};
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export default mounted((parent) => new Exercise(parent));

class Exercise {
  constructor(parent) {
    const take = (event) => event.key === "Enter" && this.submit();
    this.root = html("section", { "data-exercise": "", "aria-label": "Exercise", tabindex: "-1" });
    this.asked = html("p.asked", { "aria-live": "polite" });
    const typed = { "data-answer": "", "aria-label": "Your number", maxlength: LONGEST, inputmode: "text" };
    this.input = html("input", { ...typed, onkeydown: take });
    this.done = button("", () => this.submit(), { "data-submit": "" });
    this.show = button("Show me", () => this.whenGraded(() => this.answer(SHOW_ME)), { "data-show": "" });
    this.hint = html("span");
    this.verdict = html("p", { role: "status", "aria-live": "polite" });
    this.sum = html("output");
    this.z = html("p.z", { hidden: "" }, html("span"), this.sum);
    this.result = html("div", { hidden: "" });
    this.table = html("table");
    const answers = html("div.answers", this.input, this.done, this.show, this.hint);
    this.root.append(html("div.asking", this.asked, answers, this.verdict, this.z, this.result), this.table);
    parent.append(this.root);
    this.picked = [];
    this.outbox = new Outbox(() => this.send("answer", { id: this.data.id, tries: this.tries }));
    this.onClick = (event) => this.click(event);
    this.onKey = (event) => this.key(event);
    addEventListener("click", this.onClick, true);
    addEventListener("keydown", this.onKey, true);
  }

  close() {
    this.outbox.close();
    removeEventListener("click", this.onClick, true);
    removeEventListener("keydown", this.onKey, true);
    Object.assign(this, { picked: [], data: null, next: null });
    this.mark();
  }

  receive(data, send) {
    const same = this.data?.id === data.id && this.data.tries === data.tries;
    this.send = send;
    // An answer that Python has not seen yet is kept: this payload is of an earlier run.
    if (this.waits && this.data.id === data.id && data.tries !== this.tries) return;
    const next = this.data?.id === data.id && this.data.step === data.step ? this.next : null;
    this.waits = false;
    this.next = null;
    this.outbox.acknowledge(this.outbox.sequence);
    this.data = data;
    this.tries = data.tries;
    if (!same) this.picked = [];
    this.draw();
    next?.();
  }

  draw() {
    const { data } = this;
    const over = data.ask === null;
    this.root.dataset.step = data.step;
    this.root.toggleAttribute("data-done", over);
    if (over) this.asked.removeAttribute("data-ask");
    else this.asked.dataset.ask = data.ask;
    this.asked.textContent = over ? "Done." : `${data.step + 1} of ${data.steps}: ${data.question}`;
    this.input.hidden = data.ask !== "value";
    this.input.placeholder = data.unit;
    this.done.hidden = !(data.ask in OFTEN);
    this.done.textContent = OFTEN[data.ask] ?? "";
    this.show.hidden = over || !data.may_show;
    this.hint.textContent = HINTS[data.ask] ?? "";
    this.judge(data);
    this.drawSum(data);
    this.conclude(data, over);
    this.table.replaceChildren(html("caption", "transitions"), ...tableOf(data.rows).childNodes);
    if (data.ask === "value") this.focusInput();
    this.mark();
  }

  // The cell where the sweep of α or β ends. It has no column in the lattice.
  drawSum({ z }) {
    this.z.hidden = !z;
    if (!z) return this.sum.removeAttribute("data-node");
    this.sum.dataset.node = z.node;
    this.z.firstChild.textContent = `${z.label} `;
    this.sum.setAttribute("aria-label", z.label);
    this.sum.textContent = z.value;
  }

  judge({ verdict, shown }) {
    for (const name of ["data-verdict", "data-mistake"]) this.verdict.removeAttribute(name);
    if (verdict) this.verdict.dataset.verdict = verdict.right ? "right" : "wrong";
    if (verdict?.mistake) this.verdict.dataset.mistake = verdict.mistake;
    const mistake = verdict?.mistake ? `${verdict.mistake}: ` : "";
    const again = verdict && !verdict.right ? " Try again." : "";
    this.verdict.textContent = verdict ? `${mistake}${verdict.why}${again}` : shown ? "It is filled in." : "";
  }

  conclude(data, over) {
    this.result.hidden = !over;
    if (!over) return this.result.replaceChildren();
    const line = html("code", data.line);
    this.result.replaceChildren(
      html("p", { "data-score": data.score }, `First tries right: ${data.score} (${data.kinds.join(", ")}).`),
      html("p", "To hand in: ", line),
    );
  }

  focusInput() {
    const active = document.activeElement;
    if (active === document.body || this.root.getRootNode().activeElement || !active?.matches(TEXT_FIELD)) {
      this.input.focus({ preventScroll: true });
    }
  }

  submit() {
    if (this.data.ask === "value") {
      const text = this.input.value.replace(NOT_TYPED, " ").trim();
      if (!text) return;
      this.whenGraded(() => {
        this.input.value = "";
        this.answer(text);
      });
    } else if (this.data.ask === "read") {
      this.answer(this.picked.join(" ") || NOTHING);
    }
  }

  // What is asked for while Python grades an answer is done afterwards, if the question is still the same.
  // A second click on a cell is not: the question may be another one then.
  whenGraded(act) {
    if (!this.waits) return act();
    this.next = act;
    this.outbox.post(); // the answer before may be lost
  }

  answer(text) {
    if (this.waits) return this.outbox.post(); // the answer before may be lost
    const tries = this.tries ? `${this.tries}${BETWEEN}${text}` : text;
    if (tries.length > this.data.room) return this.verdict.replaceChildren(NO_ROOM);
    this.tries = tries;
    this.waits = true;
    this.picked = [];
    this.mark();
    this.outbox.post({});
  }

  // A click on a cell is an answer, and not a choice of the stage.
  click(event) {
    const node = event.composedPath().find((each) => each.dataset?.node);
    if (!node || node === this.sum || !this.data || this.data.ask === null || !this.root.isConnected) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.choose(node.dataset.node);
  }

  choose(node) {
    const { ask } = this.data;
    if (ask === "read") {
      const rest = this.picked.filter((each) => each !== node);
      this.picked = rest.length < this.picked.length ? rest : [...rest, node];
      this.mark();
    } else if (ask === "write") this.answer(node);
    else if (ask === "path" || ask === "pointer") this.answer(node.split(",")[1]);
  }

  key(event) {
    const { data } = this;
    const inside = event.composedPath()[0];
    if (!data || data.ask === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (inside.matches?.(TEXT_FIELD) || (inside.closest?.("button, a, [role=radio]") && !MOVES[event.key])) return;
    const at = inside.closest?.("[data-node]")?.dataset.node;
    const ends = data.ask === "read" && (event.shiftKey || this.picked.includes(at));
    if (MOVES[event.key]) this.move(at, MOVES[event.key]);
    else if (at && (event.key === " " || (event.key === "Enter" && !ends))) this.choose(at);
    else if (event.key === "Enter") this.submit();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  move(from, [x, y]) {
    const { size, cell } = this.data;
    const [t, k] = from ? from.split(",").map(Number) : (cell ?? [0, 0]);
    const place = from ? [t + x, k + y] : [t, k];
    const node = place.map((each, axis) => Math.max(0, Math.min(size[axis] - 1, each))).join();
    this.nodes()
      .find(({ dataset }) => dataset.node === node)
      ?.focus();
  }

  nodes() {
    const stages = [...document.querySelectorAll("*")].map(({ shadowRoot }) => shadowRoot).filter(Boolean);
    return [document, ...stages].flatMap((root) => [...root.querySelectorAll("[data-node]")]);
  }

  // Outlines the chosen cells, and the cell that is asked about.
  mark(left = 120) {
    const nodes = this.nodes();
    const drawn = nodes.some((node) => node !== this.sum);
    if (!drawn && left) requestAnimationFrame(() => this.mark(left - 1));
    for (const node of nodes) {
      node.toggleAttribute("data-picked", this.picked.includes(node.dataset.node));
      node.toggleAttribute("data-target", node.dataset.node === String(this.data?.cell));
    }
  }
}
