// What the reader did and Python has not acknowledged yet. Streamlit may lose what it is told while it is busy with
// another run, so what stays unanswered is sent again, each time after twice the wait: a slow answer is not disturbed
// for long. Python takes up each number once.

const FIRST_WAIT = 1000; // milliseconds
const LONGEST_WAIT = 16000;

export class Outbox {
  constructor(send) {
    this.send = send; // gets the events that are not acknowledged
    this.unanswered = []; // events, oldest first
    this.sequence = 0; // number of the last one
    this.wait = FIRST_WAIT;
  }

  post(...events) {
    for (const event of events) this.unanswered.push({ seq: ++this.sequence, ...event });
    this.deliver();
  }

  deliver() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
      this.deliver();
    }, this.wait);
    this.send(this.unanswered);
  }

  // Python has taken up all events up to this number.
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
}
