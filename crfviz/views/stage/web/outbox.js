// What the reader did and Python has not acknowledged yet. Streamlit may lose what it is told while it is busy with
// another run, so what stays unanswered is sent once more; a slow answer is not asked for again and again, which would
// make a busy server busier. When the line was lost and is back, all of it is sent anew. Python takes up each number
// once.

/** @import { Send, Sent } from "./types.js" */

const PATIENCE = 3000; // milliseconds until what is unanswered is sent once more
const FIRST_WAIT = 1000; // milliseconds until Python is asked again that could not take it up
const LONGEST_WAIT = 16000;

/** @template {Sent} Event */
export class Outbox {
  /** @param {Send} send */
  constructor(send) {
    this.send = send; // gets the events that are not acknowledged
    /** @type {Event[]} */
    this.unanswered = []; // events, oldest first
    this.sequence = 0; // number of the last one
    this.wait = FIRST_WAIT;
    this.repeated = false; // whether what was sent last was the second time
  }

  /** @param {...Omit<Event, "seq">} events */
  post(...events) {
    for (const event of events) this.unanswered.push(/** @type {Event} */ ({ seq: ++this.sequence, ...event }));
    this.deliver();
  }

  deliver() {
    if (!this.unanswered.length) return;
    this.repeated = false;
    this.in(PATIENCE, () => this.repeat());
    this.send(this.unanswered);
  }

  // The second time, and the last.
  repeat() {
    if (this.repeated) return;
    clearTimeout(this.timer);
    this.repeated = true;
    this.send(this.unanswered);
  }

  // Python said that it cannot take it up now: it is asked again, each time after twice the wait.
  later() {
    this.in(this.wait, () => this.deliver());
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  // Python has taken up all events up to this number.
  /** @param {number} number */
  acknowledge(number) {
    this.sequence = Math.max(this.sequence, number);
    const left = this.unanswered.filter((event) => event.seq > number);
    if (left.length < this.unanswered.length) this.wait = FIRST_WAIT;
    this.unanswered = left;
    if (!left.length) clearTimeout(this.timer);
  }

  close() {
    clearTimeout(this.timer);
  }

  /** @param {number} milliseconds @param {() => void} act */
  in(milliseconds, act) {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, milliseconds);
  }
}
