// What Python tells of a picture: the whole of it, or what has changed since a whole one that is here; Python's side is
// crfviz/ui/session/answers.py. Where there is nothing to change, or something else has come of it here, the whole is
// asked for.

export class Told {
  constructor(outbox) {
    this.outbox = outbox;
    this.whole = null; // the last one
  }

  // The name of the picture that is here, for events to say.
  get name() {
    return this.whole?.whole;
  }

  // The payload that a message amounts to, as `read` reads it; null where what it changes is not here.
  payload(data, read) {
    if (!data.since) this.whole = data;
    const here = !data.since || data.since === this.name;
    const payload = here ? read(data.since ? { ...this.whole, ...data } : data) : null;
    if (!here || payload.disagrees) this.askForWhole(data.ack);
    return payload;
  }

  askForWhole(ack) {
    this.outbox.acknowledge(ack); // Python knows numbers that a new stage does not
    if (!this.outbox.unanswered.some(({ kind }) => kind === "whole")) this.outbox.post({ kind: "whole" });
  }
}
