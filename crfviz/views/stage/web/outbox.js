// The queue of events that Python has not acknowledged yet. Streamlit may drop an event during another run, so the
// queue is sent a second time after a timeout, and not more often, which would load a busy server. After a lost
// connection all of it is sent again. Python applies each number once.

/** @import { Send, Sent } from "./types.js" */

const ACKNOWLEDGE_TIMEOUT = 3000; // milliseconds until unacknowledged events are sent again
const FIRST_RETRY_DELAY = 1000; // milliseconds until an event is sent again that Python could not apply
const MAX_RETRY_DELAY = 16000;

/** @template {Sent} Event */
export class Outbox {
  /** @param {Send} send */
  constructor(send) {
    this.send = send; // gets the events that are not acknowledged
    /** @type {Event[]} */
    this.unanswered = []; // events, oldest first
    this.sequence = 0; // number of the last one
    this.wait = FIRST_RETRY_DELAY;
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
    this.in(ACKNOWLEDGE_TIMEOUT, () => this.repeat());
    this.send(this.unanswered);
  }

  // The second time, and the last.
  repeat() {
    if (this.repeated) return;
    clearTimeout(this.timer);
    this.repeated = true;
    this.send(this.unanswered);
  }

  // Python could not apply an event now: it is sent again, with twice the delay each time.
  later() {
    this.in(this.wait, () => this.deliver());
    this.wait = Math.min(2 * this.wait, MAX_RETRY_DELAY);
  }

  // Python has applied all events up to this number.
  /** @param {number} number */
  acknowledge(number) {
    this.sequence = Math.max(this.sequence, number);
    const left = this.unanswered.filter((event) => event.seq > number);
    if (left.length < this.unanswered.length) this.wait = FIRST_RETRY_DELAY;
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
