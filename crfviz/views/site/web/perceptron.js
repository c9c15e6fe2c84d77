// Scores of a perceptron: weights of named features, as in crfviz/taggers/perceptron, the reference.
//
// Sums are rounded to single precision after every step, as in NumPy: scores of a perceptron often tie, and then the
// last bit decides.

import { form, key, SHAPES, shape } from "./features.js";

const OUTSIDE = ["", "", ""]; // before and after the sentence: key, last three letters, shape
const POLYNOMIAL = 0xedb88320; // of CRC-32

export class Perceptron {
  constructor({ tags, weights, scales }, arrays) {
    this.K = tags.length;
    this.weights = Object.fromEntries(
      Object.entries(weights).map(([name, values]) => [name, Float64Array.from(values)]),
    );
    this.features = new Sparse("features", scales.features, arrays);
    this.words = new Sparse("words", scales.words, arrays);
  }

  chain(words) {
    const { K, weights } = this;
    const T = words.length;
    const emissions = new Float64Array(T * K);
    namesOf(words).forEach((names, t) => {
      for (const name of names) this.features.add(name, emissions, t * K);
    });
    const transitions = new Float64Array((T - 1) * K * K);
    for (let t = 1; t < T; t++) {
      transitions.set(weights.transitions, (t - 1) * K * K);
      this.words.add(`word=${key(words[t])}`, transitions, (t - 1) * K * K);
    }
    return { T, K, emissions, transitions, start: weights.start.slice(), end: weights.end.slice() };
  }
}

// A table most of whose numbers are 0: rows by the numbers of their names, in ascending order.
class Sparse {
  constructor(name, scale, arrays) {
    const of = (part) => arrays.get(`${name}.${part}`);
    this.keys = of("keys");
    this.columns = of("columns");
    this.values = of("values");
    this.scale = scale;
    this.starts = new Uint32Array(this.keys.length + 1);
    of("counts").forEach((count, row) => {
      this.starts[row + 1] = this.starts[row] + count;
    });
  }

  // Adds the row of a name to some numbers from `at` on; unknown names add nothing.
  add(name, numbers, at) {
    const row = this.row(crc32(name));
    if (row < 0) return;
    for (let i = this.starts[row]; i < this.starts[row + 1]; i++) {
      const place = at + this.columns[i];
      numbers[place] = Math.fround(numbers[place] + Math.fround(this.values[i] * this.scale));
    }
  }

  row(wanted) {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.keys[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return this.keys[low] === wanted ? low : -1;
  }
}

// The names of the features of every word.
function namesOf(words) {
  const seen = [OUTSIDE, OUTSIDE, ...words.map(outline), OUTSIDE, OUTSIDE];
  return words.map((word, t) => [...ownNames(word), ...contextNames(seen.slice(t, t + 5))]);
}

function outline(word) {
  return [key(word), last(key(word), 3), SHAPES[shape(word)]];
}

function ownNames(word) {
  const folded = form(word);
  const lower = folded.toLowerCase();
  const kind = SHAPES[shape(word)];
  const [hyphen, digit] = ["-", "0"].map((sign) => (folded.includes(sign) ? "True" : "False"));
  return [
    "bias",
    `form=${folded}`,
    `word=${lower}`,
    `shape=${kind}`,
    `shape=${kind} suffix2=${last(lower, 2)}`,
    `hyphen=${hyphen} digit=${digit}`,
    ...[1, 2, 3, 4].map((n) => `prefix${n}=${[...lower].slice(0, n).join("")}`),
    ...[1, 2, 3, 4].map((n) => `suffix${n}=${last(lower, n)}`),
  ];
}

function contextNames([[twoBefore], before, word, after, [twoAfter]]) {
  return [
    `before=${before[0]}`,
    `after=${after[0]}`,
    `two before=${twoBefore}`,
    `two after=${twoAfter}`,
    `before suffix=${before[1]}`,
    `after suffix=${after[1]}`,
    `pair=${before[0]} ${word[0]}`,
    `pair after=${word[0]} ${after[0]}`,
    `around=${before[0]} ${after[0]}`,
    `shapes=${before[2]} ${word[2]}`,
    `shapes after=${word[2]} ${after[2]}`,
  ];
}

// The last characters of a text.
function last(text, count) {
  return [...text].slice(-count).join("");
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

function crc32(text) {
  let value = -1;
  for (const byte of new TextEncoder().encode(text)) value = (value >>> 8) ^ TABLE[(value ^ byte) & 255];
  return ~value >>> 0;
}
