// Which cue has its picture on the screen. The server says so behind that: what is said at the cue is there before.

export const there = { cue: 0, since: -Infinity }; // by the clock of events

export function behind() {
  return {
    receive({ there: cue }) {
      if (cue !== there.cue) Object.assign(there, { cue, since: performance.now() });
    },
    close() {},
  };
}
