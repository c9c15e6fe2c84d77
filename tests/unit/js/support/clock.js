// Timers that run when a test lets time pass, in place of Node's. (Node 18 has none of its own.)

export class Clock {
  now = 0;
  #timers = new Map();
  #count = 0;

  // Replaces setTimeout and clearTimeout until the test is over.
  constructor(test) {
    const { setTimeout, clearTimeout } = globalThis;
    test.after(() => Object.assign(globalThis, { setTimeout, clearTimeout }));
    globalThis.setTimeout = (act, wait = 0) => {
      this.#timers.set(++this.#count, { act, at: this.now + wait });
      return this.#count;
    };
    globalThis.clearTimeout = (timer) => this.#timers.delete(timer);
  }

  // Timers that are due run in their order; those that they set run, too, if they are due by then.
  pass(milliseconds) {
    const end = this.now + milliseconds;
    for (let next = this.#nextUntil(end); next; next = this.#nextUntil(end)) {
      const [timer, { act, at }] = next;
      this.#timers.delete(timer);
      this.now = at;
      act();
    }
    this.now = end;
  }

  get waiting() {
    return this.#timers.size;
  }

  #nextUntil(end) {
    const due = [...this.#timers].filter(([, { at }]) => at <= end);
    return due.sort(([, one], [, other]) => one.at - other.at)[0];
  }
}
