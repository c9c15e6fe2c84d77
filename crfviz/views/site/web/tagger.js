// A tagger in the browser: from a typed sentence to the scores of its chain, without a server.
//
// It reads the format of `../packing.py`: base64 of gzip of a JSON header and the arrays, byte plane by byte plane.
// The chain is one of views/stage/web/recursions.js: flat Float64Arrays,
// transitions [from, to], -Infinity forbidden.

import { rebindSentence } from "../../exports/web/rebind_sentence.js";
import { Network } from "./network.js";
import { Perceptron } from "./perceptron.js";
import { Events, floats, Observations } from "./tables.js";
import { givenWords, readTokenizer } from "./tokenizer.js";

const FORMAT = 1;
const LENGTH = 4; // bytes of the length of the header
const NOT_WHOLE = "The tagger cannot be unpacked: the file is not whole.";
const CHAINS = {
  network: (header, arrays) => scoring(header, new Network(header, arrays)),
  events: (header, arrays) => scoring(header, new Events(header, arrays)),
  perceptron: (header, arrays) => new Perceptron(header, arrays),
  observations: (header) => new Observations(header),
};

// Reads the text of a tagger; throws a readable error for an invalid text.
export async function readTagger(text) {
  const { header, rest } = await unpacked(text);
  if (header?.format !== FORMAT || !Object.hasOwn(CHAINS, header.kind)) {
    throw new Error("The tagger is of another version of crfviz than this page.");
  }
  return whole(() => taggerOf(header, arraysOf(header.arrays, rest)));
}

function taggerOf(header, arrays) {
  const model = CHAINS[header.kind](header, arrays);
  const tokenize = header.tokenizer && readTokenizer(header.tokenizer);
  const { name, tags, family, scheme, probabilistic, observations } = header;
  return {
    name,
    tags,
    family,
    scheme,
    probabilistic,
    observations,
    split: (typed) => givenWords(typed) ?? (tokenize ? tokenize(typed).map((token) => token.text) : blanks(typed)),
    score: (words, constrained = true) => {
      if (!words.length) throw new Error("A sentence needs at least one word.");
      const chain = model.chain(words);
      return constrained ? withoutForbidden(chain, header.forbidden) : chain;
    },
  };
}

// Emissions from the words, over the temperature; the rest is the same for every sentence.
function scoring({ tags, weights, temperature }, model) {
  const shared = Object.fromEntries(Object.entries(weights).map(([name, values]) => [name, floats(values)]));
  const chain = (words) => {
    const emissions = model.emissions(words).map((score) => score / temperature);
    const { transitions, start, end } = shared;
    return {
      T: words.length,
      K: tags.length,
      emissions,
      transitions: transitions.slice(),
      start: start.slice(),
      end: end.slice(),
    };
  };
  return { chain };
}

// The transitions that the scheme forbids, by positions in the tables.
function withoutForbidden(chain, { transitions, start }) {
  for (const at of transitions) {
    for (let step = at; step < chain.transitions.length; step += chain.K * chain.K) chain.transitions[step] = -Infinity;
  }
  for (const at of start) chain.start[at] = -Infinity;
  return chain;
}

function blanks(text) {
  return text.split(/\s+/).filter(Boolean);
}

// `known` is { data, tagger, examples, most }: data of any sentence of that tagger, its examples { words, gold } and
// the maximum number of words. Throws a readable error for an unusable sentence.
export function spoken({ data, tagger, examples, most }, sentence, constrained = true) {
  const words = tagger.split(sentence);
  if (!words.length) throw new Error("There is no word in it: type a sentence.");
  if (words.length > most) {
    throw new Error(`A picture holds at most ${most} words, this sentence has ${words.length}: shorten it.`);
  }
  const chain = tagger.score(words, constrained);
  const example = examples.find((each) => same(each.words, words));
  const gold = example?.gold ?? null;
  return { ...rebindSentence(data, { words, chain, sentence, gold, constrained }), sentence, constrained };
}

// The message of an error: errors for readers are plain, any other is a bug.
export function wordsOf(error) {
  if (error.constructor === Error) return error.message;
  reportError(error); // for the console
  return "This cannot be shown, by a fault of this page.";
}

// Whether the tagger can score all words of a text.
export function reads({ tagger }, text) {
  const { observations } = tagger;
  return observations === null || tagger.split(text).every((word) => observations.includes(word));
}

function same(first, second) {
  return first.length === second.length && first.every((word, t) => word === second[t]);
}

// The header, and the bytes behind it.
async function unpacked(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to unpack the tagger; one of 2023 or newer can.");
  }
  let bytes;
  try {
    const stream = new Blob([bytesOf(atob(text.trim()))]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(NOT_WHOLE);
  }
  return whole(() => {
    const end = LENGTH + new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH, end)));
    return { header, rest: bytes.subarray(end) };
  });
}

// Return the result of `make`; an error becomes a message.
function whole(make) {
  try {
    return make();
  } catch (cause) {
    throw cause.constructor === Error ? cause : new Error(NOT_WHOLE, { cause });
  }
}

// A loop, because a function call for each of some millions of letters is slow.
function bytesOf(letters) {
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// By name.
function arraysOf(described, bytes) {
  const arrays = new Map();
  let start = 0;
  for (const { name, size, kind } of described) {
    const end = start + size * Number(kind.slice(1));
    if (end > bytes.length) throw new Error(NOT_WHOLE);
    arrays.set(name, KINDS[kind](joined(bytes.subarray(start, end), size)));
    start = end;
  }
  return arrays;
}

// The numbers of planes, the highest bytes first.
function joined(planes, size) {
  const numbers = new Uint32Array(size);
  for (let start = 0; start < planes.length; start += size) {
    for (let i = 0; i < size; i++) numbers[i] = (numbers[i] << 8) | planes[start + i];
  }
  return numbers;
}

// By NumPy's names.
const KINDS = {
  f2: halves,
  f4: (numbers) => new Float32Array(numbers.buffer),
  i1: (numbers) => Int8Array.from(numbers),
  u1: (numbers) => Uint8Array.from(numbers),
  u2: (numbers) => Uint16Array.from(numbers),
  u4: (numbers) => numbers,
};

function halves(numbers) {
  const values = halfValues();
  const array = new Float32Array(numbers.length);
  for (let i = 0; i < array.length; i++) array[i] = values[numbers[i]];
  return array;
}

let table = null;

// The value of each of the 65,536 numbers of half precision.
function halfValues() {
  table ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
    return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
  });
  return table;
}
