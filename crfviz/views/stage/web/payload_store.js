// The last whole payload from Python, the base of later changes; Python's side is crfviz/ui/session/components.py. If
// the changes belong to another payload, or this browser computes other numbers, it requests a whole payload.

/** @import { Changes, Decoded, Payload, StageOutbox } from "./types.js" */

export class PayloadStore {
  /** @param {StageOutbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    /** @type {Payload | null} */
    this.whole = null; // the last whole payload
  }

  // The name of the stored payload, which events carry.
  get name() {
    return this.whole?.whole;
  }

  // Returns the whole payload after a message, decoded by `read`; null if the payload that it changes is missing.
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
    this.outbox.acknowledge(ack); // Python may know numbers that a new stage does not
    if (!this.outbox.unanswered.some(({ kind }) => kind === "whole")) this.outbox.post({ kind: "whole" });
  }
}
