// Emissions of a sentence from a neural tagger's weights, as in crfviz/taggers/neural/network.py, the reference.
//
//     x_t = [word_t ; max over windows of conv(characters_t) ; shape_t]
//     h_t = BiLSTM(x)_t   or   relu(A x_t + a)
//     emissions_t = W h_t + b
//
// Letters: T words, K tags, D numbers of a word or character, H of a state.

import { key, shape, spelling } from "./features.js";

const PADDING = 0;
const UNKNOWN = 1;
const FIRST_WORD = 2; // smaller ids are padding and the unknown word
const BEGIN = 2; // of the ids of characters
const END = 3;
const FIRST_CHARACTER = 4;
const MAX_KEPT = 5000; // words in the cache

export class Network {
  constructor({ sizes, architecture, words, characters, tags }, weights) {
    this.K = tags.length;
    this.sizes = sizes;
    this.words = idsOf(words, FIRST_WORD);
    this.characters = idsOf(characters, FIRST_CHARACTER);
    this.ofWord = weights.get("words.weight");
    this.ofShape = weights.get("shapes.weight");
    this.windows = sizes.widths.map((width, number) => {
      const [weight, bias] = [weights.get(`windows.${number}.weight`), weights.get(`windows.${number}.bias`)];
      return new Windows(width, weight, bias, weights.get("characters.weight"));
    });
    this.context = architecture === "bilstm" ? new BiLstm(weights) : new Alone(weights);
    this.output = new Affine(weights.get("output.weight"), weights.get("output.bias"));
    this.read = new Map();
  }

  // T * K numbers.
  emissions(words) {
    const scores = new Float64Array(words.length * this.K);
    const states = this.context.states(words.map((word) => this.reading(word)));
    states.forEach((state, t) => scores.set(this.output.of(state), t * this.K));
    return scores;
  }

  // The output for one word without its context.
  reading(word) {
    const known = this.read.get(word);
    if (known) return known;
    const reading = this.context.reading(this.token(word));
    if (this.read.size >= MAX_KEPT) this.read.clear();
    this.read.set(word, reading);
    return reading;
  }

  // The embedding of a word.
  token(word) {
    const ids = [BEGIN, ...spelling(word).map((character) => this.characters.get(character) ?? UNKNOWN), END];
    return concatenated([
      row(this.ofWord, this.words.get(key(word)) ?? UNKNOWN, this.sizes.word),
      ...this.windows.map((windows) => windows.most(ids)),
      row(this.ofShape, shape(word), this.sizes.shape),
    ]);
  }
}

// Filters over windows of some characters, one that ends at each character of a word. What a character adds at each
// place of the window is computed once: a word is then a few additions.
class Windows {
  constructor(width, weight, bias, characters) {
    this.bias = bias;
    const size = weight.length / bias.length / width;
    const count = characters.length / size;
    this.places = Array.from({ length: width }, (_, place) => {
      const own = new Affine(columns(weight, bias.length, place * size, size), new Float64Array(bias.length));
      return Array.from({ length: count }, (_, id) => own.of(row(characters, id, size)));
    });
  }

  // The maximum of each filter, at least 0.
  most(ids) {
    const most = new Float64Array(this.bias.length);
    for (let end = 0; end < ids.length; end++) {
      const added = this.places.map((place, at) => place[ids[end - this.places.length + 1 + at] ?? PADDING]);
      for (let f = 0; f < most.length; f++) {
        let score = this.bias[f];
        for (const numbers of added) score += numbers[f];
        if (score > most[f]) most[f] = score;
      }
    }
    return most;
  }
}

class BiLstm {
  constructor(weights) {
    this.rightwards = new Lstm("rightwards", weights);
    this.leftwards = new Lstm("leftwards", weights);
  }

  reading(token) {
    return [this.rightwards.reading(token), this.leftwards.reading(token)];
  }

  states(readings) {
    const right = this.rightwards.states(readings.map((reading) => reading[0]));
    const left = this.leftwards.states(readings.map((reading) => reading[1]).reverse()).reverse();
    return right.map((state, t) => concatenated([state, left[t]]));
  }
}

// One direction. torch has the gates as rows: input, forget, cell, output, H of each.
class Lstm {
  constructor(name, weights) {
    const of = (part) => weights.get(`context.${name}.${part}_l0`);
    const bias = Float64Array.from(of("bias_ih"), (value, at) => value + of("bias_hh")[at]);
    this.H = bias.length / 4;
    this.fromWord = new Affine(of("weight_ih"), bias);
    this.fromState = new Affine(of("weight_hh"), bias);
  }

  // The contribution of a word to the gates.
  reading(token) {
    return this.fromWord.of(token);
  }

  // The states after each word.
  states(readings) {
    const { H } = this;
    const cell = new Float64Array(H);
    let state = new Float64Array(H);
    return readings.map((reading) => {
      const gates = this.fromState.of(state, reading);
      state = new Float64Array(H);
      for (let j = 0; j < H; j++) {
        cell[j] = sigmoid(gates[H + j]) * cell[j] + sigmoid(gates[j]) * Math.tanh(gates[2 * H + j]);
        state[j] = sigmoid(gates[3 * H + j]) * Math.tanh(cell[j]);
      }
      return state;
    });
  }
}

// A hidden layer that reads one word at a time.
class Alone {
  constructor(weights) {
    this.layer = new Affine(weights.get("context.layer.weight"), weights.get("context.layer.bias"));
  }

  reading(token) {
    return this.layer.of(token).map((value) => Math.max(value, 0));
  }

  states(readings) {
    return readings;
  }
}

function idsOf(names, first) {
  return new Map(names.map((name, index) => [name, index + first]));
}

function row(table, index, size) {
  return table.subarray(index * size, (index + 1) * size);
}

// Some columns of each row.
function columns(table, rows, start, size) {
  const width = table.length / rows;
  return concatenated(
    Array.from({ length: rows }, (_, r) => table.subarray(r * width + start, r * width + start + size)),
  );
}

function concatenated(parts) {
  const whole = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function sigmoid(value) {
  return 1 / (1 + Math.exp(-value));
}

// weight · vector + bias, for the many vectors that a layer is given.
//
// Eight rows at once, and their weights side by side: the additions of one row alone would wait for each other.

const ABREAST = 8;

class Affine {
  // weight: R * D numbers in C order; bias: R numbers.
  constructor(weight, bias) {
    this.R = bias.length;
    this.D = weight.length / this.R;
    const blocks = Math.ceil(this.R / ABREAST);
    this.weight = new Float32Array(blocks * ABREAST * this.D);
    this.bias = new Float64Array(blocks * ABREAST);
    this.bias.set(bias);
    for (let r = 0; r < this.R; r++) {
      const start = (r - (r % ABREAST)) * this.D + (r % ABREAST);
      for (let i = 0; i < this.D; i++) this.weight[start + i * ABREAST] = weight[r * this.D + i];
    }
  }

  // A new Float64Array of R numbers; `bias` may be another one than the layer's own.
  of(vector, bias = this.bias) {
    const { D, weight } = this;
    const result = new Float64Array(this.bias.length);
    result.set(bias);
    let at = 0;
    for (let r = 0; r < result.length; r += ABREAST) {
      let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let i = 0; i < D; i++, at += ABREAST) {
        const value = vector[i];
        a += weight[at] * value;
        b += weight[at + 1] * value;
        c += weight[at + 2] * value;
        d += weight[at + 3] * value;
        e += weight[at + 4] * value;
        f += weight[at + 5] * value;
        g += weight[at + 6] * value;
        h += weight[at + 7] * value;
      }
      result[r] += a;
      result[r + 1] += b;
      result[r + 2] += c;
      result[r + 3] += d;
      result[r + 4] += e;
      result[r + 5] += f;
      result[r + 6] += g;
      result[r + 7] += h;
    }
    return result.subarray(0, this.R);
  }
}
