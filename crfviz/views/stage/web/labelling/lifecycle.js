// The labeller: one sentence as chips, to be tagged by keyboard or mouse. Knows an element, payloads and events.
//
// Each action of the annotator is one event. Python stores it and sends the sentence back. Keys pressed before the
// answer are queued. The queue is cleared when the answer is another sentence: no key applies to a sentence that is not
// drawn yet.

import { all, flag, focusedIn, html, set, setText } from "../dom.js";
import { listenToKeys } from "../keyboard.js";
import { Outbox } from "../outbox.js";
import { change, keysOf, pointAt, selectionOf } from "./actions.js";
import { buildDesk } from "./desk.js";
import { watchSwitches } from "./switches.js";
import { buildChips, drawBoundaries, drawChips } from "./words.js";

/** @import { LabellerPayload, Send, Sent } from "../types.js" */

const WAIT_SHOWN = 400; // milliseconds until “Storing …” is shown
const LATE_SHOWN = 4000; // milliseconds after that until the wait is explained
const LATE = "The store does not answer yet: it may be locked or busy. Your keys are kept and sent again.";
const GUEST_LATE = "The app has not answered yet. A form answers when it is submitted.";
const SWITCHES = "input[type=checkbox], input[aria-autocomplete]";
const TEXT_FIELDS = "textarea, input:not([type=radio], [type=checkbox], [aria-autocomplete])";

export class Labelling {
  /** @type {LabellerPayload} */ data; // absent before the first one
  /** @type {number | undefined} */ since; // when the last event was sent
  /** @type {ReturnType<typeof setTimeout> | undefined} */ waitTimer;
  dragging = false;
  // A `guest` hears no keys outside of its element, and takes the focus from nothing.
  /** @param {HTMLElement} parent @param {Send} send @param {boolean} [guest] */
  constructor(parent, send, guest = false) {
    this.guest = guest;
    /** @type {Outbox<Sent & { item: number, revision: number, seconds: number }>} */
    this.outbox = new Outbox(send); // holds the event that waits for its answer, if there is one
    /** @type {(() => void)[]} */
    this.waiting = []; // keys pressed meanwhile
    this.cursor = 0;
    /** @type {number | null} */
    this.anchor = null; // other end of what is selected; null: nothing is, the cursor stands on its word
    /** @type {number[]} */
    this.tagged = []; // words that got a tag and were left for the next one, the last one last
    this.words = false; // whether words are being cut and joined
    this.boundary = 0; // where the caret stands then
    this.desk = buildDesk(this);
    this.root = html("div", { "data-labeller": "", tabindex: -1 }, this.desk.elements);
    this.root.style.opacity = "0"; // until the style sheet is in force; what is not visible could not take the focus
    parent.append(this.root);
    this.stopKeys = listenToKeys(guest ? parent : document, (event) => keysOf(this, event));
    this.stopDragging = () => pointAt(this, null, false);
    document.addEventListener("pointerup", this.stopDragging);
    this.switches = watchSwitches();
  }

  close() {
    this.stopKeys();
    document.removeEventListener("pointerup", this.stopDragging);
    this.switches.stop();
    clearTimeout(this.waitTimer);
    this.outbox.close();
  }

  /** @param {LabellerPayload} data */
  receive(data) {
    const another = data.item !== this.data?.item;
    const awaited = this.pending;
    const otherWords = another || data.words.join("\n") !== this.data.words.join("\n");
    this.data = data;
    this.outbox.acknowledge(data.ack);
    if (another) {
      this.cursor = data.doubtful[0] ?? 0;
      this.words = false;
      this.tagged = [];
      this.waiting = [];
      this.since = performance.now();
    }
    this.cursor = Math.min(this.cursor, data.words.length - 1);
    if (otherWords) this.anchor = null;
    this.draw(otherWords);
    if (this.mayTakeFocus(another, awaited)) this.focus();
    this.settle();
  }

  // Handles the answer to the last event: resends it now or later where needed, then runs the queued keys.
  settle() {
    if (this.pending && this.data.held) this.outbox.later();
    else if (this.pending) this.outbox.repeat();
    if (!this.pending || this.data.held) clearTimeout(this.waitTimer);
    if (this.pending) return;
    flag(this.root, { waiting: false });
    set(this.root, "data-settled", this.outbox.sequence);
    while (!this.pending && this.waiting.length) this.waiting.shift()?.();
  }

  deliver() {
    this.outbox.post();
  }

  /** @param {string} kind @param {object} [fields] */
  emit(kind, fields = {}) {
    const now = performance.now();
    const seconds = (now - (this.since ?? now)) / 1000;
    this.since = now;
    const { item, revision } = this.data;
    flag(this.root, { waiting: true });
    this.waitTimer = setTimeout(() => this.showWait(), WAIT_SHOWN);
    this.outbox.post({ kind, item, revision, seconds, ...fields });
  }

  showWait() {
    setText(this.desk.note, "Storing …");
    this.waitTimer = setTimeout(() => setText(this.desk.note, this.guest ? GUEST_LATE : LATE), LATE_SHOWN);
  }

  get pending() {
    return this.outbox.unanswered.length > 0;
  }

  // Does something now, or after the answer that is awaited.
  /** @param {() => void} act */
  idle(act) {
    if (this.pending) this.waiting.push(act);
    else act();
  }

  draw(rebuild = false) {
    const { data, desk, cursor } = this;
    const { item, revision, state, bio } = data;
    for (const [name, value] of Object.entries({ item, revision, state, bio })) set(this.root, `data-${name}`, value);
    flag(this.root, { wordsMode: this.words });
    desk.write(this);
    if (this.words) {
      drawBoundaries(desk.sheet, data, this.boundary, (at) => this.idle(() => change(this, at)));
      return;
    }
    if (rebuild || !desk.sheet.querySelector(".chip")) buildChips(desk.sheet, data);
    drawChips(desk.sheet, data, cursor, selectionOf(this));
  }

  // A sentence that was just opened takes the keys from whatever opened it, but never from a text field; one that is
  // drawn anew because of a switch or a list beside it takes them from there, while an answer is awaited only from a
  // switch that was used: somebody may be on the way past it.
  /** @param {boolean} another @param {boolean} awaited */
  mayTakeFocus(another, awaited) {
    const active = document.activeElement ?? document.body;
    const own = focusedIn(this.root);
    if (this.guest) return Boolean(own && this.root.contains(own));
    if (active === document.body || (own && this.root.contains(own))) return true;
    if (another) return !active.matches(TEXT_FIELDS);
    return active.matches(SWITCHES) && (!awaited || this.switches.wasUsed(active));
  }

  focus() {
    this.switches.forget();
    const { sheet } = this.desk;
    const [kind, at] = this.words ? ["[data-boundary]", this.boundary] : [".chip", this.cursor];
    (all(sheet, kind)[at] ?? this.root).focus({ preventScroll: false });
  }
}
