// The labeller: one sentence as chips, tagged by keyboard or mouse. It uses only its element, payloads and events.
//
// Each action of the annotator is one event. Python stores it and returns the sentence. Keys pressed before the
// response are queued. A response with another sentence clears the queue: no key applies to a sentence that is not
// drawn yet.

import { all, flag, focusedIn, html, set, setText } from "../dom.js";
import { listenToKeys } from "../keyboard.js";
import { Outbox } from "../outbox.js";
import { buildDesk } from "./desk.js";
import { change, keysOf, pointAt, selectionOf } from "./marking.js";
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
  /** @type {LabellerPayload} */ data; // undefined before the first payload
  /** @type {number | undefined} */ since; // time of the last event
  /** @type {ReturnType<typeof setTimeout> | undefined} */ waitTimer;
  dragging = false;
  // A `guest` handles no keys outside its element, and never takes the focus.
  /** @param {HTMLElement} parent @param {Send} send @param {boolean} [guest] */
  constructor(parent, send, guest = false) {
    this.guest = guest;
    /** @type {Outbox<Sent & { item: number, revision: number, seconds: number }>} */
    this.outbox = new Outbox(send); // holds the unacknowledged event, if any
    /** @type {(() => void)[]} */
    this.waiting = []; // keys pressed before the response
    this.cursor = 0;
    /** @type {number | null} */
    this.anchor = null; // other end of the selection; null without a selection
    /** @type {number[]} */
    this.tagged = []; // words that got a tag before the cursor moved on, the latest last
    this.words = false; // whether words are being split and joined
    this.boundary = 0; // position of the caret then
    this.row = 0; // chosen place in the list of a name
    this.desk = buildDesk(this);
    this.root = html("div", { "data-labeller": "", tabindex: -1 }, this.desk.elements);
    this.root.style.opacity = "0"; // until the style sheet is loaded; an invisible element could not take the focus
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

  // Handles the response to the last event: resends it now or later if needed, then runs the queued keys.
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

  // Runs an action now, or after the pending response.
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

  // A newly opened sentence takes the focus from the control that opened it, but never from a text field. A redraw
  // because of a switch or a list beside it also takes the focus. While a response is pending, it takes the focus only
  // from a switch that was used, because Tab may only be passing it.
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
