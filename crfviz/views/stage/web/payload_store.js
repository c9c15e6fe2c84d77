// The last complete picture from Python, and the changes since; Python's side is crfviz/ui/session/components.py.
// Where the changes belong to another picture, or this browser computes other numbers, it asks for a complete one.

/** @import { Changes, Decoded, Payload, StageOutbox } from "./types.js" */

export class PayloadStore {
  /** @param {StageOutbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    /** @type {Payload | null} */
    this.whole = null; // the last one
  }

  // The name of the picture that is here, for events to say.
  get name() {
    return this.whole?.whole;
  }

  // The payload that a message amounts to, as `read` reads it; null where what it changes is not here.
  /** @param {Payload | Changes} data @param {(data: Payload) => Decoded} read */
  payload(data, read) {
    if (!data.since) this.whole = /** @type {Payload} */ (data);
    const here = !data.since || data.since === this.name;
    const payload = here ? read(/** @type {Payload} */ (data.since ? { ...this.whole, ...data } : data)) : null;
    if (!payload || payload.disagrees) this.askForWhole(data.ack);
    return payload;
  }

  /** @param {number} ack */
  askForWhole(ack) {
    this.outbox.acknowledge(ack); // Python knows numbers that a new stage does not
    if (!this.outbox.unanswered.some(({ kind }) => kind === "whole")) this.outbox.post({ kind: "whole" });
  }
}
