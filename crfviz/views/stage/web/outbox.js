// The queue of events that Python has not acknowledged yet. Streamlit may drop an event during another run, so the
// queue is sent again after a timeout that doubles each time, and only a few times, which does not load a busy server.
// After a lost connection all of it is sent again. Python applies each number once.

/** @import { Send, Sent } from "./types.js" */

export const ACKNOWLEDGE_TIMEOUT = 3000; // milliseconds until unacknowledged events are sent a second time
const MAX_SENDS = 6; // of the same events; the last one is 93 seconds after the first
const FIRST_RETRY_DELAY = 1000; // milliseconds until an event that Python could not apply is sent again
const MAX_RETRY_DELAY = 16000;

/** @template {Sent} Event */
export class Outbox {
  /** @param {Send} send @param {number} [maxSends] */
  constructor(send, maxSends = MAX_SENDS) {
    this.send = send; // receives the unacknowledged events
    this.maxSends = maxSends;
    /** @type {Event[]} */
    this.unanswered = []; // events, oldest first
    this.sequence = 0; // number of the last event
    this.wait = FIRST_RETRY_DELAY;
    this.sends = 0; // number of times that the same events were sent
  }

  // Sends new events, and all other unacknowledged ones.
  /** @param {...Omit<Event, "seq">} events */
  post(...events) {
    for (const event of events) this.unanswered.push(/** @type {Event} */ ({ seq: ++this.sequence, ...event }));
    if (!this.unanswered.length) return;
    this.sends = 0;
    this.send(this.unanswered);
    this.awaitAnswer();
  }

  // Resends events that a response does not acknowledge, if they were sent only once.
  repeat() {
    if (this.sends < 2) this.sendAgain();
  }

  sendAgain() {
    this.send(this.unanswered);
    this.awaitAnswer();
  }

  awaitAnswer() {
    clearTimeout(this.timer);
    const timeout = ACKNOWLEDGE_TIMEOUT * 2 ** this.sends++;
    if (this.sends < this.maxSends) this.in(timeout, () => this.sendAgain());
  }

  // Resends an event that Python could not apply yet, doubling the delay each time.
  later() {
    this.in(this.wait, () => this.post());
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
