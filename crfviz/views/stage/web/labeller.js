// The labeller: one sentence as chips, to be tagged by keyboard or mouse. Entry point of its component, see stage.js for
// how Streamlit calls it.
//
// Each thing the annotator does is one event; Python stores it and answers with the sentence anew. Keys that are pressed
// before the answer wait for it, so that nothing is decided on a picture that is no longer true.

import { drawBoundaries } from "./boundaries.js";
import { buildChips, drawChips, spanAt } from "./chips.js";
import { html, mark, set, setText } from "./dom.js";
import { Outbox } from "./outbox.js";

const labellers = new WeakMap();
const WAIT_SHOWN = 400; // milliseconds until a person is told that an answer is awaited

export default function ({ data, parentElement, setTriggerValue }) {
  if (!labellers.has(parentElement)) labellers.set(parentElement, new Labeller(parentElement));
  const labeller = labellers.get(parentElement);
  labeller.outbox.send = (events) => setTriggerValue("events", events);
  labeller.receive(data);
  return () => setTimeout(() => {
    if (parentElement.isConnected) return;
    labeller.close();
    labellers.delete(parentElement);
  });
}

class Labeller {
  constructor(parent) {
    this.outbox = new Outbox(); // holds the event that waits for its answer, if there is one
    this.waiting = []; // keys pressed meanwhile
    this.cursor = 0;
    this.anchor = null; // other end of what is selected; null: nothing is, the cursor stands on its word
    this.words = false; // whether words are being cut and joined
    this.boundary = 0; // where the caret stands then
    this.root = html("div", { "data-labeller": "", tabindex: "-1" });
    parent.append(this.root);
    this.build();
    this.keydown = (event) => this.onKey(event);
    document.addEventListener("keydown", this.keydown);
    this.pointerup = () => (this.dragging = false);
    document.addEventListener("pointerup", this.pointerup);
  }

  close() {
    document.removeEventListener("keydown", this.keydown);
    document.removeEventListener("pointerup", this.pointerup);
    clearTimeout(this.waitTimer);
    this.outbox.close();
  }

  build() {
    const button = (name, text, keys, act) => {
      const made = html("button", { type: "button", "data-act": name }, [html("span", { text }), ...keys.map((key) => html("kbd", { text: key }))]);
      made.addEventListener("click", () => this.idle(act));
      return made;
    };
    this.place = html("span", { class: "place" });
    this.reason = html("span", { class: "reason" });
    this.state = html("span", { class: "state" });
    this.note = html("div", { class: "note", role: "status", "aria-live": "polite" });
    this.sheet = html("div", { class: "sheet", role: "listbox", "aria-label": "The words of the sentence", "aria-multiselectable": "true" });
    this.ranked = html("div", { class: "ranked" });
    this.palette = html("div", { class: "palette", role: "group", "aria-label": "Tags" });
    const accept = button("accept", "Accept, next", ["Enter"], () => this.accept());
    const undo = button("undo", "Undo", ["⌫"], () => this.emit("undo"));
    this.wordsButton = button("words", "Split or join words", ["/"], () => this.toggleWords());
    const before = button("back", "Previous", ["Page ↑"], () => this.emit("go", { by: -1 }));
    const after = button("skip", "Next", ["Page ↓"], () => this.emit("go", { by: 1 }));
    const actions = html("div", { class: "actions" }, [accept, undo, this.wordsButton, before, after]);
    this.hint = html("div", { class: "hint" });
    this.sheet.addEventListener("pointerdown", (event) => this.onPoint(event, true));
    this.sheet.addEventListener("pointerover", (event) => this.dragging && this.onPoint(event, false));
    this.root.append(html("div", { class: "topline" }, [this.place, this.reason, this.state]), this.sheet, this.note, this.ranked, this.palette, actions, this.hint);
  }

  // -- data in ---------------------------------------------------------------------------------------------------

  receive(data) {
    const another = data.item !== this.data?.item;
    const otherWords = another || data.words.join("\n") !== this.data.words.join("\n");
    this.data = data;
    this.outbox.acknowledge(data.ack);
    if (another) {
      this.cursor = data.doubtful[0] ?? 0;
      this.anchor = null;
      this.words = false;
      this.since = performance.now();
    }
    this.cursor = Math.min(this.cursor, data.words.length - 1);
    if (otherWords && this.anchor !== null) this.anchor = null;
    this.draw(otherWords);
    if (this.mayTakeFocus(another)) this.focus();
    this.settle();
  }

  // The answer to the event that was sent, or a reason to send it again; then the keys that waited for it.
  settle() {
    if (this.pending) {
      this.outbox.deliver();
      return;
    }
    clearTimeout(this.waitTimer);
    mark(this.root, "data-waiting", false);
    set(this.root, "data-settled", this.outbox.sequence);
    while (!this.pending && this.waiting.length) this.waiting.shift()();
  }

  emit(kind, fields = {}) {
    const now = performance.now();
    const seconds = (now - this.since) / 1000;
    this.since = now;
    const { item, revision } = this.data;
    mark(this.root, "data-waiting");
    this.waitTimer = setTimeout(() => setText(this.note, "Storing …"), WAIT_SHOWN);
    this.outbox.post({ kind, item, revision, seconds, ...fields });
  }

  get pending() {
    return this.outbox.unanswered.length > 0;
  }

  // Does something now, or after the answer that is awaited.
  idle(act) {
    if (this.pending) this.waiting.push(act);
    else act();
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  draw(rebuild = false) {
    const { data } = this;
    for (const [name, value] of Object.entries({ item: data.item, revision: data.revision, state: data.state, bio: data.bio })) set(this.root, `data-${name}`, value);
    mark(this.root, "data-words-mode", this.words);
    setText(this.place, data.place);
    setText(this.reason, data.reason);
    setText(this.state, data.state === "done" ? "done" : "");
    setText(this.note, data.problem || data.note || this.standing());
    mark(this.note, "data-problem", Boolean(data.problem));
    if (this.words) {
      drawBoundaries(this.sheet, data, this.boundary, (at) => this.idle(() => this.change(at)));
    } else {
      if (rebuild || !this.sheet.querySelector(".chip")) buildChips(this.sheet, data);
      drawChips(this.sheet, data, { cursor: this.cursor, selected: this.selection() });
    }
    this.drawRanked();
    this.drawPalette();
    set(this.wordsButton, "aria-pressed", this.words);
    setText(this.hint, this.words
      ? "← → boundaries · Space cuts or joins there · / back to tags"
      : `← → words · Tab next doubtful word · 1–5 one of the likeliest · a letter sets the tag · Shift ← → several words${data.bio ? " · Space one word of an entity" : ""}`);
  }

  standing() {
    const { doubtful, words } = this.data;
    if (this.data.state === "done") return "Done. A key changes it again.";
    return doubtful.length ? `${doubtful.length} of ${words.length} words are doubtful (under 0.90).` : "No word is doubtful: Enter accepts.";
  }

  drawRanked() {
    const { data } = this;
    const word = data.words[this.cursor];
    const options = (data.ranked[this.cursor] ?? []).map(([choice, p], rank) => {
      const { name, colour } = data.choices[choice];
      const made = html("button", { type: "button", style: `--tag: ${colour}`, "data-rank": rank + 1 }, [html("kbd", { text: rank + 1 }), html("span", { class: "tag-name", text: name || "no entity" }), html("span", { class: "number", text: p.toFixed(2) })]);
      made.addEventListener("click", () => this.idle(() => this.choose(name)));
      return made;
    });
    const label = html("span", { class: "word-name", dir: "auto", text: word });
    const title = data.probabilistic ? "p(tag | sentence, your tags)" : "what a CRF with these scores would say";
    this.ranked.replaceChildren(label, ...options, html("span", { class: "quiet", text: title }));
    this.ranked.hidden = this.words;
  }

  drawPalette() {
    const { choices } = this.data;
    const key = choices.map(({ name }) => name).join("\n");
    this.palette.hidden = this.words;
    if (this.palette.dataset.choices === key) return;
    this.palette.dataset.choices = key;
    this.palette.replaceChildren(...choices.map(({ name, key: letter, colour }) => {
      const made = html("button", { type: "button", style: `--tag: ${colour}`, "data-choice": name || "none" }, [html("kbd", { text: letter }), html("span", { class: "tag-name", text: name || "no entity" })]);
      made.addEventListener("click", () => this.idle(() => this.choose(name)));
      return made;
    }));
  }

  // -- keys and mouse --------------------------------------------------------------------------------------------

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.data || !this.hears(event)) return;
    const act = this.words ? this.wordsKey(event) : this.tagsKey(event);
    if (!act) return;
    event.preventDefault();
    this.idle(act);
  }

  // Keys are meant for the labeller unless something else on the page has the focus.
  hears(event) {
    const target = event.composedPath()[0];
    return target === document.body || (event.composedPath().includes(this.root) && !(target.matches("button") && ["Enter", " "].includes(event.key)));
  }

  tagsKey(event) {
    const { key, shiftKey } = event;
    if (key === "Tab") return this.tab(shiftKey ? -1 : 1);
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: "up", ArrowDown: "down", Home: -Infinity, End: Infinity };
    if (key in moves) return () => this.move(moves[key], shiftKey);
    const acts = {
      Enter: () => this.accept(), Backspace: () => this.emit("undo"), "/": () => this.toggleWords(), Escape: () => this.select(null), " ": () => this.select(this.cursor),
      PageUp: () => this.emit("go", { by: -1 }), PageDown: () => this.emit("go", { by: 1 }),
    };
    if (acts[key]) return acts[key];
    if (/^[1-9]$/.test(key)) return () => this.chooseRank(Number(key) - 1);
    const choice = this.data.choices.find((option) => option.key && option.key === key.toLowerCase());
    return choice && (() => this.choose(choice.name));
  }

  wordsKey({ key }) {
    const acts = {
      ArrowLeft: () => this.moveCaret(-1), ArrowRight: () => this.moveCaret(1), ArrowUp: () => this.moveCaret(-5), ArrowDown: () => this.moveCaret(5), " ": () => this.change(this.boundary),
      Enter: () => this.change(this.boundary), Backspace: () => this.emit("undo"), "/": () => this.toggleWords(), Escape: () => this.toggleWords(),
    };
    return acts[key];
  }

  // The next doubtful word in a direction; after the last one Tab goes where it always goes.
  tab(by) {
    const ahead = this.data.doubtful.filter((t) => (by > 0 ? t > this.cursor : t < this.cursor));
    if (!ahead.length || this.pending) return this.pending ? () => this.tab(by)?.() : null;
    return () => this.goTo(by > 0 ? ahead[0] : ahead.at(-1));
  }

  move(by, extend) {
    const { length } = this.data.words;
    if (extend) this.anchor ??= this.cursor;
    else this.anchor = null;
    const to = typeof by === "string" ? this.lineNeighbour(by) : this.cursor + by;
    this.goTo(Math.max(0, Math.min(length - 1, to)), extend);
  }

  // The word above or below.
  lineNeighbour(direction) {
    const chips = [...this.sheet.querySelectorAll(".chip")];
    const middle = ({ left, width }) => left + width / 2;
    const own = chips[this.cursor].getBoundingClientRect();
    const rows = chips.map((chip, t) => ({ t, box: chip.getBoundingClientRect() })).filter(({ box }) => (direction === "up" ? box.bottom <= own.top : box.top >= own.bottom));
    const near = rows.sort((a, b) => Math.abs(a.box.top - own.top) - Math.abs(b.box.top - own.top) || Math.abs(middle(a.box) - middle(own)) - Math.abs(middle(b.box) - middle(own)));
    return near[0]?.t ?? this.cursor;
  }

  goTo(position, keepAnchor = false) {
    this.cursor = position;
    if (!keepAnchor) this.anchor = null;
    this.draw();
    this.focus();
  }

  select(anchor) {
    this.anchor = anchor;
    this.draw();
  }

  // First and last word that a key would change: what is selected, or the entity or word under the cursor.
  selection() {
    if (this.anchor !== null) return [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)];
    return this.data.bio ? spanAt(this.data.tags, this.cursor) : [this.cursor, this.cursor];
  }

  onPoint(event, begins) {
    const chip = event.target.closest(".chip");
    if (!chip || this.words) return;
    const position = Number(chip.dataset.word);
    if (begins) {
      this.dragging = true;
      if (event.shiftKey) this.anchor ??= this.cursor;
      event.preventDefault();
      this.goTo(position, event.shiftKey);
    } else if (position !== this.cursor || this.anchor !== null) {
      this.anchor ??= this.cursor;
      this.goTo(position, true);
    }
  }

  choose(what) {
    const [first, last] = this.selection();
    this.anchor = null;
    this.emit("correct", { first, last, what });
  }

  chooseRank(rank) {
    const found = this.data.ranked[this.cursor]?.[rank];
    if (found) this.choose(this.data.choices[found[0]].name);
  }

  accept() {
    this.emit("accept");
  }

  toggleWords() {
    this.words = !this.words;
    this.boundary = 0;
    this.draw(true);
    this.focus();
  }

  moveCaret(by) {
    const last = this.sheet.querySelectorAll("[data-boundary]").length - 1;
    this.boundary = Math.max(0, Math.min(last, this.boundary + by));
    this.draw();
    this.focus();
  }

  // Cuts or joins at a boundary; the caret stays at the same place of the text.
  change(boundary) {
    const element = this.sheet.querySelectorAll("[data-boundary]")[boundary];
    if (!element) return;
    this.boundary = boundary;
    const [word, at] = [Number(element.dataset.of), Number(element.dataset.at)];
    if (at) this.emit("cut", { word, at });
    else this.emit("join", { word });
  }

  // A sentence that was just opened takes the keys from whatever opened it, but never from a text field.
  mayTakeFocus(another) {
    const active = document.activeElement;
    if (active === document.body || this.hasFocus()) return true;
    return another && !active.matches("textarea, input:not([type=radio], [type=checkbox], [aria-autocomplete])");
  }

  hasFocus() {
    return this.root.getRootNode().activeElement && this.root.contains(this.root.getRootNode().activeElement);
  }

  focus() {
    const target = this.words ? this.sheet.querySelectorAll("[data-boundary]")[this.boundary] : this.sheet.querySelectorAll(".chip")[this.cursor];
    (target ?? this.root).focus({ preventScroll: false });
  }
}
