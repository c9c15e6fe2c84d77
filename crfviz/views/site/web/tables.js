// Chains with their scores in tables: textbook chains, and counted hidden Markov models.

import { form, SHAPES, shape } from "./features.js";

const LONGEST_ENDING = 3; // letters
const ANY = ""; // the class of all unknown words

// A textbook's chain: each observation has its own emissions, and in a conditional one its own start and transitions.
export class Observations {
  constructor({ name, observations, tags, tables }) {
    this.name = name;
    this.K = tags.length;
    this.ids = new Map(observations.map((observation, index) => [observation, index]));
    this.tables = Object.fromEntries(Object.entries(tables).map(([table, rows]) => [table, rows.map(floats)]));
  }

  chain(words) {
    const { emissions, transitions, start, end } = this.tables;
    const seen = words.map((word) => this.id(word));
    const common = transitions.length === 1;
    return {
      T: words.length,
      K: this.K,
      emissions: stacked(seen.map((id) => emissions[id])),
      transitions: common ? transitions[0].slice() : stacked(seen.slice(1).map((id) => transitions[id])),
      start: start[seen[0]].slice(),
      end: end[0].slice(),
    };
  }

  id(word) {
    const id = this.ids.get(word);
    if (id !== undefined) return id;
    const known = [...this.ids.keys()].join(", ");
    throw new Error(
      `${this.name} has no observation “${word.slice(0, 40)}”: type some of ${known}, with blanks between.`,
    );
  }
}

// A counted model: the event of a word is its form, or the class of an unknown form.
export class Events {
  constructor({ words, classes, rows, tags }, arrays) {
    this.K = tags.length;
    this.words = new Map(words.map((word, index) => [word, index]));
    this.classes = new Map(classes.map((name, index) => [name, words.length + index]));
    this.rows = rows; // of `scores`, for each event
    this.scores = arrays.get("scores");
  }

  emissions(words) {
    const { K } = this;
    const scores = new Float64Array(words.length * K);
    words.forEach((word, t) => {
      const at = this.rows[this.event(word)] * K;
      scores.set(this.scores.subarray(at, at + K), t * K);
    });
    return scores;
  }

  event(word) {
    const spelled = form(word);
    const known = this.words.get(spelled) ?? this.words.get(spelled.toLowerCase());
    return known ?? this.classes.get(classNames(spelled).findLast((name) => this.classes.has(name)));
  }
}

// All classes of a form, the most general first.
function classNames(spelled) {
  const kind = SHAPES[shape(spelled)];
  const lower = [...spelled.toLowerCase()];
  const longest = Math.min(LONGEST_ENDING, lower.length - 1);
  return [ANY, kind, ...Array.from({ length: longest }, (_, n) => `${kind} -${lower.slice(-(n + 1)).join("")}`)];
}

// JSON has no infinity: null is forbidden.
export function floats(values) {
  return Float64Array.from(values, (value) => value ?? -Infinity);
}

function stacked(rows) {
  return Float64Array.from(rows.flatMap((row) => [...row]));
}
